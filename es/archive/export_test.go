package archive_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/es"
	"example.com/threads/es/archive"
	"example.com/threads/es/archive/archivetest"
	"example.com/threads/es/dynamodb"
	"example.com/threads/es/estest/testenv"
)

// read reads an export, and returns the numbers of each aggregate.
func read(t *testing.T, from archive.Export) (found map[es.AggregateID][]uint64, err error) {
	t.Helper()
	found = map[es.AggregateID][]uint64{}
	for page, err := range from.ReadJournal(t.Context(), 0, from.JournalParts(), "") {
		if err != nil {
			return found, err
		}
		for _, entry := range page.Entries {
			if want := `{"type":"Noted"`; !strings.HasPrefix(string(entry.Payload), want) {
				t.Errorf("event %d of %s is %q", entry.SeqNr, entry.ID, entry.Payload)
			}
			found[entry.ID] = append(found[entry.ID], entry.SeqNr)
		}
	}
	return found, nil
}

func TestAnExportIsRead(t *testing.T) {
	client, name := dynamodb.NewClient(testenv.DynamoDBConfig(t)), testenv.UniqueName(t)
	journal, snapshot := name+"_journal", name+"_snapshot"
	if _, _, err := dynamodb.SetUpTables(t.Context(), client, dynamodb.Tables(journal, snapshot)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, table := range []string{journal, snapshot} {
			_, _ = client.DeleteTable(t.Context(), &sdk.DeleteTableInput{TableName: aws.String(table)})
		}
	})
	store, err := dynamodb.New(client, dynamodb.Settings{JournalTable: journal, SnapshotTable: snapshot})
	if err != nil {
		t.Fatal(err)
	}
	ids := []es.AggregateID{newID(""), newID("one"), newID("one")}
	for i, id := range ids {
		grow(t, store, id, 0, uint64(10+i+i/2), 20, long) // so that the files have different counts
	}
	folder := t.TempDir()
	archivetest.Export(t, client, journal, folder, 3)
	from := archive.Export{Journal: store, Files: os.DirFS(folder), Place: store.Place}
	found, err := read(t, from)
	if err != nil || len(found) != len(ids) {
		t.Fatalf("%d aggregates, want %d: %v", len(found), len(ids), err)
	}
	for i, id := range ids {
		if slices.Sort(found[id]); len(found[id]) != 10+i+i/2 || found[id][0] != 1 || len(slices.Compact(found[id])) != 10+i+i/2 {
			t.Errorf("of %s there is %d", id, found[id])
		}
	}
	for _, err := range from.ReadJournal(t.Context(), 0, 1, "") { // a reader that stops
		if err != nil {
			t.Error(err)
		}
		break
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, err := range from.ReadJournal(ended, 0, 1, "") {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after the end of its context: %v", err)
		}
	}
	if files, err := filepath.Glob(filepath.Join(folder, "data", "*")); err != nil || len(files) != 3 {
		t.Fatal(files, err)
	} else if err := os.Rename(files[0], files[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, from); err == nil || !strings.Contains(err.Error(), "000.json.gz") {
		t.Errorf("with a file missing: %v", err)
	}
	if err := os.Rename(filepath.Join(folder, "data", fmt.Sprintf("%026d.json.gz", 2)), filepath.Join(folder, "data", fmt.Sprintf("%026d.json.gz", 0))); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t, from); err == nil || !strings.Contains(err.Error(), "of the manifest") {
		t.Errorf("with a file that is another: %v", err)
	}
	from.Files = fstest.MapFS{ // it has Keys and NewImage, no Item
		"manifest-files.json": {Data: []byte(`{"itemCount":1,"dataFileS3Key":"AWSDynamoDB/data/one.json"}`)},
		"data/one.json":       {Data: []byte(`{"Metadata":{},"Keys":{"pkey":{"S":"a"},"skey":{"S":"b"}},"NewImage":{}}`)},
	}
	if _, err := read(t, from); err == nil || !strings.Contains(err.Error(), "full export") {
		t.Errorf("an incremental export: %v", err)
	}
	from.Files = os.DirFS(t.TempDir())
	if _, err := read(t, from); err == nil || !strings.Contains(err.Error(), "manifest-files.json") {
		t.Errorf("without a manifest: %v", err)
	}
}
