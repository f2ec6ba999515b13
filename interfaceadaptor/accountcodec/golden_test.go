package accountcodec_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/threads/domain/account"
	"example.com/threads/domain/writing"
	"example.com/threads/interfaceadaptor/accountcodec"
	"example.com/threads/interfaceadaptor/eventcodec"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/sealed"
	"example.com/threads/usecase"
)

// Every event in every version of its JSON that was ever written. A golden file is only ever added: run with
// UPDATE_GOLDEN=1 to write those that are missing, never to change one.
const (
	ada     = "01H42KBHCWA0000000000000AD"
	eventID = "01H42KBHCW1BZG504J4ZXKA2F2"
)

var today = map[string]account.Event{
	"AccountRegistered": account.Registered{Name: writing.RecordedName("Ada")},
	"AccountRenamed":    account.Renamed{Name: writing.RecordedName("Ada & \"茶\" 🍵")},
	"AccountClosed":     account.Closed{},
}

func recorded(t *testing.T, event account.Event) usecase.Recorded[account.Event] {
	tenant, err := usecase.ParseTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	return usecase.Recorded[account.Event]{
		Envelope: usecase.Envelope{
			EventID: eventID, AggregateType: account.AggregateType, AggregateID: ada, SeqNr: 7,
			OccurredAt: time.Date(2023, 6, 29, 3, 32, 37, 404481000, time.UTC),
			CommandID:  "01H42KBHCWC0MMAND000000000",
			Caller: usecase.Caller{
				Tenant: tenant, Executor: ada, RequestID: "request-1", CorrelationID: "correlation-1", CausationID: "causation-1",
				Source: "write-api /accounts/rename", ClientIP: "192.0.2.7",
			},
		},
		Event: event,
	}
}

func TestEventsOfToday(t *testing.T) {
	var covered []string
	for name, event := range today {
		covered = append(covered, sealed.Name(event))
		t.Run(name, func(t *testing.T) {
			want := recorded(t, event)
			encoded, err := accountcodec.Events().Encode(want)
			if err != nil {
				t.Fatal(err)
			}
			checkGolden(t, name+".json", encoded)
			got, err := accountcodec.Events().Decode(golden(t, name+".json"))
			if diff := kit.Diff(want, got); err != nil || diff != "" {
				t.Errorf("decoded (-want +got): %v\n%s", err, diff)
			}
		})
	}
	sealed.Check(t, "events with a golden file", sealed.Types(t, "example.com/threads/domain/account", "isEvent"), covered)
}

func TestSnapshotsOfToday(t *testing.T) {
	open := account.Account{}.Apply(account.Registered{Name: writing.RecordedName("Ada")})
	for file, state := range map[string]account.Account{"snapshot-1.json": open, "snapshot-1-closed.json": open.Apply(account.Closed{})} {
		encoded, err := accountcodec.Snapshots{}.Encode(ada, 3, state)
		if err != nil {
			t.Fatal(err)
		}
		checkGolden(t, file, encoded)
		id, version, got, err := accountcodec.Snapshots{}.Decode(golden(t, file))
		if err != nil || id != ada || version != 3 || got != state {
			t.Errorf("%s: %s at %d is %+v, %v", file, id, version, got, err)
		}
	}
}

// An event that lacks anything is an error that names it, never an event with zero values.
func TestBrokenEvents(t *testing.T) {
	for name := range today {
		whole := string(golden(t, name+".json"))
		for _, field := range []string{"type", "id", "aggregate_id", "seq_nr", "occurred_at", "executor_id", "name"} {
			broken := strings.ReplaceAll(whole, `"`+field+`":`, `"no_`+field+`":`)
			if broken == whole {
				continue // it has no such field
			}
			event, err := accountcodec.Events().Decode([]byte(broken))
			var decodeError *eventcodec.DecodeError
			if !errors.As(err, &decodeError) || field != "id" && decodeError.EventID != eventID {
				t.Errorf("%s without %s: got %+v, %v", name, field, event, err)
			}
		}
	}
}

func TestBrokenSnapshots(t *testing.T) {
	whole := string(golden(t, "snapshot-1.json"))
	for about, payload := range map[string]string{
		"nothing":         ``,
		"cut off":         whole[:len(whole)/2],
		"newer format":    strings.Replace(whole, `"format":1`, `"format":2`, 1),
		"without id":      strings.Replace(whole, `"id":`, `"no":`, 1),
		"without version": strings.Replace(whole, `"version":`, `"edition":`, 1),
		"without name":    strings.Replace(whole, `"name":`, `"title":`, 1),
	} {
		if id, version, _, err := (accountcodec.Snapshots{}).Decode([]byte(payload)); err == nil || id != "" || version != 0 {
			t.Errorf("%s: got %s at %d, %v", about, id, version, err)
		}
	}
}

// Every golden file belongs to a test: one that no test reads would be a promise that nobody keeps.
func TestEveryGoldenFileIsRead(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		if _, isEvent := today[name]; !isEvent && name != "snapshot-1" && name != "snapshot-1-closed" {
			t.Errorf("%s is read by no test", file)
		}
	}
}

func golden(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, content); err != nil {
		t.Fatal(err)
	}
	return compact.Bytes()
}

func checkGolden(t *testing.T, name string, encoded []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if _, err := os.Stat(path); os.IsNotExist(err) && os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, append(encoded, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := kit.Diff(string(golden(t, name)), string(encoded)); diff != "" {
		t.Error("JSON (-golden +encoded):\n" + diff)
	}
}
