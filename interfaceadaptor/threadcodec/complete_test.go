package threadcodec_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/threadcodec"
	"example.com/threads/tests/sealed"
)

// Whatever the domain has and is forgotten here is named.
func TestEveryEventHasItsJSON(t *testing.T) {
	var tested []string
	for _, event := range today {
		tested = append(tested, sealed.Name(event))
		if threadcodec.Events().EventType(event) == "" {
			t.Errorf("%T has no row in the codec's table", event)
		}
	}
	sealed.Check(t, "events with a golden file of today's JSON", sealed.Types(t, "example.com/threads/domain/thread", "isEvent"), tested)
	// Every name that was ever written, those of rows that only read included, has a golden file.
	var files []string
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if name := strings.TrimSuffix(filepath.Base(path), ".json"); !strings.HasPrefix(name, "snapshot-") {
			files = append(files, name)
		}
	}
	sealed.Check(t, "golden files of events", threadcodec.Events().Names(), files)
}

// Every field of the state is in its snapshot: a field that is forgotten would be lost with the next one.
func TestEveryFieldOfTheStateIsInItsSnapshot(t *testing.T) {
	live := thread.Thread{}.Replay(today["ThreadCreated"], today["ThreadMemberAdded"], today["ThreadMessagePosted"])
	states := []thread.Thread{live, live.Apply(today["ThreadDeleted"])}
	for field := range reflect.TypeFor[thread.Thread]().Fields() {
		if !slices.ContainsFunc(states, func(s thread.Thread) bool { return !reflect.ValueOf(s).FieldByIndex(field.Index).IsZero() }) {
			t.Errorf("the state's field %s is empty in this test: give it a value with an event", field.Name)
		}
	}
	for _, state := range states {
		payload, err := threadcodec.Snapshots{}.Encode(aThread.String(), 3, state)
		if err != nil {
			t.Fatal(err)
		}
		_, _, restored, err := threadcodec.Snapshots{}.Decode(payload)
		if err != nil {
			t.Fatal(err)
		}
		everything := cmp.Exporter(func(reflect.Type) bool { return true })
		if diff := cmp.Diff(state, restored, everything); diff != "" {
			t.Errorf("not all of the state is in its snapshot (-state +restored):\n%s", diff)
		}
	}
}
