// Package codectest checks the codecs of aggregates. Events and states must have golden files in testdata/TYPE, nothing
// of the domain may be missing, and broken data must be an error.
//
// With UPDATE_GOLDEN=1, the tests of a package write its golden files: the missing ones, and those that changed and
// were never released. A file that is in the branch main was released, because stores may have such events; it is
// never changed.
package codectest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/sealed"
)

// The envelope of the golden events.
const (
	EventID  = "01H42KBHCW1BZG504J4ZXKA2F2"
	Executor = "01H42KBHCWA0000000000000AD"
)

// Recorded returns an event of the aggregate in an envelope with all fields.
func Recorded[E any](t testing.TB, aggregateType, id string, event E) es.Recorded[E] {
	t.Helper()
	tenant, err := es.ParseTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	return es.Recorded[E]{
		Envelope: es.Envelope{
			EventID: EventID, AggregateType: aggregateType, AggregateID: id, SeqNr: 7,
			OccurredAt: time.Date(2023, 6, 29, 3, 32, 37, 404481000, time.UTC),
			CommandID:  "01H42KBHCWC0MMAND000000000",
			Caller: es.Caller{
				Tenant: tenant, Executor: Executor, RequestID: "request-1", CorrelationID: "correlation-1", CausationID: "causation-1",
				Source: "write-api /accounts/rename", ClientIP: "192.0.2.7",
			},
		},
		Event: event,
	}
}

// Events checks the codec with current events of each type; domain is the package of the types. A second event of a
// type is a variant, with the golden file NAME-2: the fields that one of them lacks may be missing.
func Events[E any](t *testing.T, domain string, codec *es.Codec[E], id string, today ...E) {
	t.Helper()
	var covered []string
	variants := map[string][]map[string]json.RawMessage{} // their fields, by event type
	for _, event := range today {
		name := codec.EventType(event)
		_, encoded, err := codec.Describe(event)
		var fields map[string]json.RawMessage
		if err == nil {
			err = json.Unmarshal(encoded, &fields)
		}
		if err != nil {
			t.Fatal(err)
		}
		variants[name] = append(variants[name], fields)
	}
	number := map[string]int{}
	for _, event := range today {
		eventType := codec.EventType(event)
		covered = append(covered, sealed.Name(event))
		name := eventType
		if number[eventType]++; number[eventType] > 1 {
			name = fmt.Sprintf("%s-%d", eventType, number[eventType])
		}
		t.Run(name, func(t *testing.T) {
			want := Recorded(t, codec.Type(), id, event)
			encoded, err := codec.Encode(want)
			if err != nil {
				t.Fatal(err)
			}
			file := codec.Type() + "/" + name + ".json"
			CheckGolden(t, file, encoded)
			got, err := codec.Decode(Golden(t, file))
			if diff := kit.Diff(want, got); err != nil || diff != "" {
				t.Errorf("decoded (-want +got): %v\n%s", err, diff)
			}
			broken(t, codec, encoded, variants[eventType])
		})
	}
	sealed.Check(t, "events of today in this test", sealed.Types(t, domain, "isEvent"), covered)
	sealed.Check(t, "golden files", codec.Names(), files(t, codec.Type()))
	kit.EveryField(t, "the events of this test", today...)
}

// broken checks that an event without one of the fields that all its variants have is an error that names the event,
// never an event with zero values.
func broken[E any](t *testing.T, codec *es.Codec[E], whole []byte, variants []map[string]json.RawMessage) {
	t.Helper()
	optional := map[string]bool{ // of the envelope: some events were written without them
		"tenant_code": true, "command_id": true, "request_id": true, "correlation_id": true, "causation_id": true, "source": true, "client_ip": true,
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(whole, &fields); err != nil {
		t.Fatal(err)
	}
	for field := range fields {
		isOwn, lacks := false, false
		for _, variant := range variants {
			_, has := variant[field]
			isOwn, lacks = isOwn || has, lacks || !has
		}
		if optional[field] || isOwn && lacks {
			continue
		}
		event, err := codec.Decode(bytes.ReplaceAll(whole, []byte(`"`+field+`":`), []byte(`"no_`+field+`":`)))
		if err == nil || field != "id" && event.EventID != EventID {
			t.Errorf("without %s: got %+v, %v", field, event, err)
		}
	}
}

// Snapshots checks the codec of states with states of the aggregate, each with a golden file whose name begins with
// "snapshot-" and the current format. Every field of the state must be set in one of them. The golden files
// outdated have snapshots of former codecs.
func Snapshots[S any](t *testing.T, aggregateType string, codec es.SnapshotCodec[S], id string, states map[string]S, outdated ...string) {
	t.Helper()
	var all []S
	for name, state := range states {
		file := aggregateType + "/" + name
		all = append(all, state)
		encoded, err := codec.Encode(id, 3, state)
		if err != nil {
			t.Fatal(err)
		}
		CheckGolden(t, file, encoded)
		of, version, got, err := codec.Decode(Golden(t, file))
		if diff := kit.Diff(state, got); err != nil || of != id || version != 3 || diff != "" {
			t.Errorf("%s is of %s at %d, %v; not all of the state is in its snapshot (-state +restored):\n%s", file, of, version, err, diff)
		}
		whole := string(encoded)
		const newer = `{"a_field_of_a_newer_release":1,`
		if of, version, _, err := codec.Decode([]byte(strings.Replace(whole, "{", newer, 1))); !errors.Is(err, es.ErrOutdated) || of != "" || version != 0 {
			t.Errorf("%s, %s: got %s at %d, %v", file, newer, of, version, err)
		}
		for about, payload := range map[string]string{
			"nothing":         ``,
			"cut off":         whole[:len(whole)/2],
			"newer format":    strings.NewReplacer(`"format":`, `"format":99`, `"state":`, `"later":`).Replace(whole),
			"without id":      strings.Replace(whole, `"id":`, `"no_id":`, 1),
			"without version": strings.Replace(whole, `"version":`, `"no_version":`, 1),
		} {
			if of, version, _, err := codec.Decode([]byte(payload)); err == nil || of != "" || version != 0 {
				t.Errorf("%s, %s: got %s at %d, %v", file, about, of, version, err)
			}
		}
	}
	for _, name := range outdated {
		if of, version, _, err := codec.Decode(Golden(t, aggregateType+"/"+name)); !errors.Is(err, es.ErrOutdated) || of != "" || version != 0 {
			t.Errorf("%s: got %s at %d, %v, want that it is outdated", name, of, version, err)
		}
	}
	kit.EveryField(t, "states of this test", all...)
}

// files returns the names of the events that have golden files.
func files(t *testing.T, aggregateType string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob("testdata/" + aggregateType + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".json"), "-") // what follows is a variant
		if name != "snapshot" {
			names = append(names, name)
		}
	}
	return names
}

// Golden returns the content of a golden file in compact form.
func Golden(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatalf("%v%s", err, howToWrite(t))
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, content); err != nil {
		t.Fatal(err)
	}
	return compact.Bytes()
}

// CheckGolden compares JSON with a golden file. With UPDATE_GOLDEN=1, it writes the file first if it is missing or
// differs, and was never released.
func CheckGolden(t testing.TB, name string, encoded []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	_, err := os.Stat(path)
	missing := os.IsNotExist(err)
	if os.Getenv("UPDATE_GOLDEN") != "" && !released(t, path) && (missing || !bytes.Equal(Golden(t, name), encoded)) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, append(encoded, '\n'), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	diff := kit.Diff(string(Golden(t, name)), string(encoded))
	switch {
	case diff == "":
	case released(t, path):
		t.Errorf("JSON of %s (-golden +encoded):\n%s\nIt was released: it is in the branch main. Stored JSON must stay readable: leave this form in the test, and add the new one to it, under another name.", name, diff)
	default:
		t.Errorf("JSON of %s (-golden +encoded):\n%s%s", name, diff, howToWrite(t))
	}
}

// howToWrite is advice.
func howToWrite(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return "\nTo write all golden files of this package that were never released:\n\tUPDATE_GOLDEN=1 go -C " + folder + " test ."
}

func released(t testing.TB, path string) bool {
	t.Helper()
	_, is := kit.Released(t, path)
	return is
}
