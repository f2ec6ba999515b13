package eventjson_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/benbjohnson/immutable"
	"github.com/google/go-cmp/cmp"

	"example.com/threads/domain/thread"
	"example.com/threads/domain/thread/threadtest"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/sealed"
)

// An event of the domain that is missing in the codec must be named.
func TestEveryEventHasItsJSON(t *testing.T) {
	var tested []string
	for _, event := range today {
		tested = append(tested, sealed.Name(event))
		if eventjson.Threads().Events.EventType(event) == "" {
			t.Errorf("%T has no row in the codec's table", event)
		}
	}
	sealed.Check(t, "events with a golden file of today's JSON", sealed.Types(t, "example.com/threads/domain/thread", "apply"), tested)
	// Every name that was ever written must have a golden file, including names that are only read.
	var files []string
	paths, err := filepath.Glob("testdata/thread/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		name, variant, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".json"), "-")
		if name != "snapshot" && variant == "" {
			files = append(files, name)
		}
	}
	sealed.Check(t, "golden files of events", eventjson.Threads().Events.Names(), files)
}

// Every field of the state must be in its snapshot; a missing one would be lost with the next snapshot.
func TestEveryFieldOfTheStateIsInItsSnapshot(t *testing.T) {
	var states []thread.Thread
	var mementos []thread.Memento
	for _, history := range threadtest.Histories() {
		state := thread.Thread{}.Replay(threadtest.Events(history)...)
		if state.Usable() == nil || state.Deleted() {
			states, mementos = append(states, state), append(mementos, state.Memento())
		}
	}
	kit.EveryField(t, "states of this test", states...)
	kit.EveryField(t, "mementos of this test", mementos...)
	for _, state := range states {
		payload, err := eventjson.Threads().Snapshots.Encode(aThread.String(), state.Memento().Events, state)
		if err != nil {
			t.Fatal(err)
		}
		_, _, restored, err := eventjson.Threads().Snapshots.Decode(payload)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(state, restored, kit.ByValue(), entries[thread.UserID, thread.Participant](), entries[thread.MessageID, thread.Posting]()); diff != "" {
			t.Fatalf("not all of the state is in its snapshot (-state +restored):\n%s", diff)
		}
	}
}

// entries compares immutable maps by their entries.
func entries[K comparable, V any]() cmp.Option {
	return cmp.Transformer("entries", func(m *immutable.Map[K, V]) map[K]V {
		all := map[K]V{}
		if m == nil {
			return all
		}
		for iterator := m.Iterator(); !iterator.Done(); {
			key, value, _ := iterator.Next()
			all[key] = value
		}
		return all
	})
}
