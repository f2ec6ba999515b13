package threadcodec_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/thread/threadtest"
	"example.com/threads/interfaceadaptor/threadcodec"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/sealed"
)

// An event of the domain that is missing in the codec must be named.
func TestEveryEventHasItsJSON(t *testing.T) {
	var tested []string
	for _, event := range today {
		tested = append(tested, sealed.Name(event))
		if threadcodec.Events().EventType(event) == "" {
			t.Errorf("%T has no row in the codec's table", event)
		}
	}
	sealed.Check(t, "events with a golden file of today's JSON", sealed.Types(t, "example.com/threads/domain/thread", "isEvent"), tested)
	// Every name that was ever written must have a golden file, including names that are only read.
	var files []string
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		name, variant, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".json"), "-")
		if name != "snapshot" && variant == "" {
			files = append(files, name)
		}
	}
	sealed.Check(t, "golden files of events", threadcodec.Events().Names(), files)
}

// large returns a thread with so many messages and at least so many members, each a sender.
func large(messages int) thread.Thread {
	state := thread.Thread{}.Apply(today["ThreadCreated"])
	for i := range messages {
		at, entropy := time.UnixMilli(int64(1+i)), [10]byte{9: byte(i)}
		sender := ident.New[ident.UserAccount](at, entropy)
		joined := thread.Member{ID: ident.New[thread.Member](at, entropy), User: sender, Role: thread.RoleMember}
		posted := thread.Message{ID: ident.New[thread.Message](at, entropy), Sender: sender, Text: tricky}
		state = state.Replay(thread.MemberAdded{Member: joined}, thread.MessagePosted{Message: posted})
	}
	return state
}

// Every field of the state must be in its snapshot; a missing one would be lost with the next snapshot.
func TestEveryFieldOfTheStateIsInItsSnapshot(t *testing.T) {
	states := []thread.Thread{large(100)}
	for _, history := range threadtest.Histories() {
		var state thread.Thread
		for _, event := range threadtest.Events(history) {
			state = state.Apply(event)
		}
		if state.Usable() == nil || state.Deleted() {
			states = append(states, state)
		}
	}
	kit.EveryField(t, "states of this test", states...)
	for _, state := range states {
		payload, err := threadcodec.Snapshots{}.Encode(aThread.String(), state.Memento().Events, state)
		if err != nil {
			t.Fatal(err)
		}
		_, _, restored, err := threadcodec.Snapshots{}.Decode(payload)
		if err != nil {
			t.Fatal(err)
		}
		if diff := kit.Diff(state, restored); diff != "" {
			t.Fatalf("not all of the state is in its snapshot (-state +restored):\n%s", diff)
		}
	}
}
