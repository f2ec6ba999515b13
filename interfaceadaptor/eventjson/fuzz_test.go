package eventjson_test

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/tests/kit"
)

// seed adds the golden files to the corpus.
func seed(f *testing.F, pattern string) {
	f.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata/thread", pattern))
	if err != nil || len(paths) == 0 {
		f.Fatalf("no golden files: %v", err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
}

// Any journal entry must be an event or an error. A readable event must survive writing and reading again.
func FuzzDecodeEvent(f *testing.F) {
	seed(f, "*.json")
	codec := eventjson.Threads().Events
	f.Fuzz(func(t *testing.T, payload []byte) {
		recorded, err := codec.Decode(payload)
		if err != nil {
			return
		}
		encoded, err := codec.Encode(recorded)
		if err != nil {
			return // such as a time with more digits than are written today
		}
		again, err := codec.Decode(encoded)
		if diff := kit.Diff(recorded, again); err != nil || diff != "" {
			t.Errorf("%s\nis read again as (-first +again) %v:\n%s", payload, err, diff)
		}
	})
}

// Any stored snapshot must be a state or an error.
func FuzzDecodeSnapshot(f *testing.F) {
	seed(f, "snapshot-*.json")
	f.Fuzz(func(t *testing.T, payload []byte) {
		id, version, state, err := eventjson.Threads().Snapshots.Decode(payload)
		if err != nil {
			return
		}
		if _, err := eventjson.Threads().Snapshots.Encode(id, version, state); err != nil || id == "" || version == 0 {
			t.Errorf("%q is the state of %q at %d, %v", payload, id, version, err)
		}
	})
}
