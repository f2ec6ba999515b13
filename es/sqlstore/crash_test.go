package sqlstore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/sqlstore"
)

// writerURL is set for the child process: this test binary then appends to an event store until it is killed.
const writerURL = "TEST_SQLSTORE_WRITER_URL"

func TestMain(m *testing.M) {
	if url := os.Getenv(writerURL); url != "" {
		fmt.Fprintln(os.Stderr, appendForEver(url))
		os.Exit(1)
	}
	testenv.Main(m)
}

// appendForEver appends to eight aggregates at the same time, each command with a receipt, and prints what was
// acknowledged.
func appendForEver(url string) error {
	ctx := context.Background()
	db, err := database.Open(ctx, url, database.Settings{})
	if err != nil {
		return err
	}
	gateway, err := sqlstore.New(context.Background(), db, sqlstore.Settings{})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for range 8 {
		go func() {
			id := newID()
			for version := uint64(0); ; version++ {
				w := write(id, version, 1)
				w.Receipts = []es.Receipt{receipt(w.Entries[0].CommandID)}
				if err := gateway.Append(ctx, w); err != nil {
					failed <- err
					return
				}
				fmt.Printf("%s %d %s\n", id.ID, version+1, w.Entries[0].CommandID)
			}
		}()
	}
	return <-failed
}

func TestKilledWriterLosesNothingThatWasAcknowledged(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "events.db")
	for round := range 4 {
		db := open(t, url)
		acknowledged := killedAfter(t, url, 200+round*150)
		gateway := newGateway(t, db)
		for _, a := range acknowledged {
			id := es.AggregateID{Type: "notebook", ID: a.ulid}
			for entry, err := range gateway.EntriesAt(t.Context(), id, []uint64{a.version}) {
				if err != nil || entry.CommandID != a.command {
					t.Fatalf("round %d: event %d of %s is lost: %+v, %v", round, a.version, id, entry, err)
				}
			}
			if _, found, err := gateway.Receipt(t.Context(), "", a.command); err != nil || !found {
				t.Fatalf("round %d: the receipt of event %d of %s is lost: %v", round, a.version, id, err)
			}
		}
		for head, err := range gateway.Heads(t.Context(), "notebook") {
			if err != nil {
				t.Fatal(err)
			}
			count := uint64(0)
			for _, err := range gateway.Entries(t.Context(), head.ID, 0, head.Version) {
				if err != nil {
					t.Fatal(err)
				}
				count++
			}
			if count != head.Version {
				t.Fatalf("%s is at version %d with %d events", head.ID, head.Version, count)
			}
		}
	}
}

type acknowledgement struct {
	ulid, command string
	version       uint64
}

// killedAfter starts a writer, kills it after a number of acknowledged events, and returns all acknowledged events.
func killedAfter(t *testing.T, url string, count int) []acknowledgement {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self)
	child.Env = append(os.Environ(), writerURL+"="+url)
	child.Stderr = os.Stderr
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var kill sync.Once
	var got []acknowledgement
	for lines := bufio.NewScanner(output); lines.Scan(); {
		var a acknowledgement
		if _, err := fmt.Sscanf(lines.Text(), "%s %d %s", &a.ulid, &a.version, &a.command); err != nil {
			continue // a line cut off by the kill
		}
		if got = append(got, a); len(got) >= count {
			kill.Do(func() { _ = child.Process.Kill() })
		}
	}
	var exit *exec.ExitError
	if err := child.Wait(); !errors.As(err, &exit) || exit.Exited() || len(got) < count {
		t.Fatalf("the writer ended with %v after %d events", err, len(got))
	}
	return got
}
