// Package codectest checks the codecs of aggregates. Events and states must have golden files in testdata/TYPE, nothing
// of the domain may be missing, and broken data must be an error. Golden files are only ever added: run the tests with
// UPDATE_GOLDEN=1 to write missing files; it never changes one.
package codectest

import (
	"bytes"
	"encoding/json"
	"errors"
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

// Events checks the codec with one current event of each type; domain is the package of the types.
func Events[E any](t *testing.T, domain string, codec *es.Codec[E], id string, today ...E) {
	t.Helper()
	var covered []string
	for _, event := range today {
		name := codec.EventType(event)
		covered = append(covered, sealed.Name(event))
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
			broken(t, codec, encoded)
		})
	}
	sealed.Check(t, "events of today in this test", sealed.Types(t, domain, "isEvent"), covered)
	sealed.Check(t, "golden files", codec.Names(), files(t, codec.Type()))
	kit.EveryField(t, "the events of this test", today...)
}

// broken checks that an event without one of its fields is an error that names the event, never an event with zero
// values.
func broken[E any](t *testing.T, codec *es.Codec[E], whole []byte) {
	t.Helper()
	optional := map[string]bool{ // of the envelope: some events were written without them
		"tenant_code": true, "command_id": true, "request_id": true, "correlation_id": true, "causation_id": true, "source": true, "client_ip": true,
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(whole, &fields); err != nil {
		t.Fatal(err)
	}
	for field := range fields {
		if optional[field] {
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

// files returns the names of the golden files of events, without their suffix.
func files(t *testing.T, aggregateType string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob("testdata/" + aggregateType + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if name := strings.TrimSuffix(filepath.Base(path), ".json"); !strings.HasPrefix(name, "snapshot-") {
			names = append(names, name)
		}
	}
	return names
}

// Golden returns the content of a golden file in compact form.
func Golden(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatalf("%v; write it:\n\tUPDATE_GOLDEN=1 go -C %s test .", err, here(t))
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, content); err != nil {
		t.Fatal(err)
	}
	return compact.Bytes()
}

// CheckGolden compares JSON with a golden file. With UPDATE_GOLDEN=1 a missing file is written.
func CheckGolden(t *testing.T, name string, encoded []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if _, err := os.Stat(path); os.IsNotExist(err) && os.Getenv("UPDATE_GOLDEN") != "" {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, append(encoded, '\n'), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := kit.Diff(string(Golden(t, name)), string(encoded)); diff != "" {
		t.Errorf("JSON (-golden +encoded):\n%s\nStored JSON must stay readable: give the new form another name. If none was ever released, "+
			"write the file again:\n\trm %s && UPDATE_GOLDEN=1 go -C %s test .", diff, filepath.Join(here(t), path), here(t))
	}
}

// here returns the folder of the package under test.
func here(t *testing.T) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return folder
}
