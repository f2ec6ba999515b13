package chatrows_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/tests/codectest"
	"example.com/threads/tests/kit/feed"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase/chat"
)

// The rows that released events make are in a golden file for each version of the rows. Who changes them, and does not
// raise the version, leaves wrong rows of old events. A new column is no change where its value is empty.
func TestOldEventsMakeTheRowsOfTheirVersion(t *testing.T) {
	threads, accounts := eventjson.Threads().Events, eventjson.Accounts().Events
	for _, history := range [][]string{
		{"Created", "ThreadRenamed", "ThreadMemberAdded", "ThreadMemberRoleChanged", "ThreadMessagePosted", "ThreadMessageEdited"},
		{"ThreadCreated-code", "ThreadMemberAdded", "ThreadMessagePosted", "ThreadMessageDeleted", "ThreadMemberRemoved"},
		{"ThreadCreated", "ThreadMemberAdded", "ThreadMessagePosted", "ThreadDeleted"},
	} {
		makeTheirRows(t, threads, history, "chat.ThreadRowsVersion", chat.ThreadRowsVersion)
	}
	for _, history := range [][]string{
		{"AccountRegistered", "AccountRenamed"},
		{"AccountRegistered", "AccountClosed"},
		{"AccountRegistered", "AccountErased"}, // extra:erasure
	} {
		makeTheirRows(t, accounts, history, "chat.AccountRowsVersion", chat.AccountRowsVersion)
	}
}

// makeTheirRows projects the golden events of an aggregate's history, and compares all rows.
func makeTheirRows[E any](t *testing.T, codec *es.Codec[E], history []string, constant string, version int) {
	t.Helper()
	tenant, err := es.ParseTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	last := history[len(history)-1]
	t.Run(last, func(t *testing.T) {
		db := readmodeltest.SQLite(t).DB
		store, err := rowstore.New(db, chatrows.Projection)
		if err != nil {
			t.Fatal(err)
		}
		var batch projection.Batch
		for i, name := range history {
			golden, err := os.ReadFile(filepath.Join("../../eventjson/testdata", codec.Type(), name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			recorded, err := codec.Decode(golden)
			if err != nil {
				t.Fatal(err)
			}
			// Some samples are of another aggregate.
			recorded.Tenant, recorded.AggregateID, recorded.SeqNr = tenant, "01H42K4ABWQ5V2XQEP3A48VE0Z", uint64(i)+1
			batch.Records = append(batch.Records, feed.Record(t, codec, recorded))
		}
		outcome, err := projection.New(store, nil, projection.Options{}, chatrows.Handlers()...).Project(t.Context(), batch)
		if err != nil || outcome.Applied != len(history) {
			t.Fatalf("%+v, %v", outcome, err)
		}

		rows := map[string][]map[string]any{}
		for _, table := range chatrows.Tables() {
			found, err := db.QueryxContext(t.Context(), "SELECT * FROM "+table+" ORDER BY 1, 2, 3")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = found.Close() }()
			for found.Next() {
				row := map[string]any{}
				if err := found.MapScan(row); err != nil {
					t.Fatal(err)
				}
				for column, value := range row {
					if value == nil || reflect.ValueOf(value).IsZero() {
						delete(row, column)
					}
				}
				rows[table] = append(rows[table], row)
			}
			if err := found.Err(); err != nil {
				t.Fatal(err)
			}
		}
		encoded, err := json.Marshal(rows)
		if err != nil {
			t.Fatal(err)
		}
		codectest.CheckGolden(t, fmt.Sprintf("%s-%d.json", last, version), encoded)
		if t.Failed() {
			t.Logf("If old events should make other rows: raise %s, so that all rows are rebuilt, and write the files of that version.", constant)
		}
	})
}
