package sqlstore_test

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/sqlstore"
)

// holdReceipt makes the next Append with a receipt for the command wait, after it has got its sequence numbers, until
// the returned function is called. With true, the command was already handled.
func holdReceipt(t *testing.T, db *sqlx.DB, commandID string) (trimSnapshots func(handled bool)) {
	t.Helper()
	tx, err := db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "INSERT INTO receipts (tenant_code, command_id, fingerprint, answer, expires_at) VALUES ('', ?, '', '', ?)",
		commandID, time.Now().Add(time.Hour).UnixMicro()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	return func(handled bool) {
		t.Helper()
		end := tx.Rollback
		if handled {
			end = tx.Commit
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
}

// appendHeld starts an Append that waits after it has got its sequence number. It returns the channel for the result,
// too.
func appendHeld(t *testing.T, db *sqlx.DB, gateway *sqlstore.Gateway) (trimSnapshots func(bool), w es.Append, answer chan error) {
	t.Helper()
	w = write(newID(), 0, 1)
	w.Receipts = []es.Receipt{receipt(w.Entries[0].CommandID)}
	trimSnapshots = holdReceipt(t, db, w.Entries[0].CommandID)
	answer = make(chan error, 1)
	go func() { answer <- gateway.Append(t.Context(), w) }()
	testenv.Eventually(t, 5*time.Second, func() error {
		tx, err := db.BeginTxx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadUncommitted})
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		var count int
		if err := tx.GetContext(t.Context(), &count, "SELECT COUNT(*) FROM events WHERE event_id = ?", w.Entries[0].EventID); err != nil {
			return err
		}
		if count == 0 {
			return errors.New("the event has no number yet")
		}
		return nil
	})
	return trimSnapshots, w, answer
}

func TestTransactionsThatCommitOutOfOrder(t *testing.T) {
	db := openMySQL(t)
	gateway := newGateway(t, db)
	f := follower{queue: newQueue(t, db)}
	mustAppend(t, gateway, write(newID(), 0, 1))
	f.until(t, 1)

	trimSnapshots, slow, answer := appendHeld(t, db, gateway)
	fast := mustAppend(t, gateway, write(newID(), 0, 1)) // has the higher number and commits first
	if end, err := f.queue.End(t.Context()); err != nil || end != f.position+2 {
		t.Fatalf("the end is at %d, not 2 after %d: %v", end, f.position, err)
	}
	if backlog, _, err := f.queue.Backlog(t.Context(), f.position); err != nil || backlog != 1 {
		t.Errorf("%d, %v", backlog, err)
	}
	// The queue must wait for longer than its patience and the lock timeout.
	for deadline := time.Now().Add(1500 * time.Millisecond); time.Now().Before(deadline); {
		if f.read(t, 100); len(f.seen) > 1 {
			t.Fatal("an event was read before an earlier one that is still being written")
		}
	}
	trimSnapshots(false)
	if err := <-answer; err != nil {
		t.Fatal(err)
	}
	f.until(t, 3)
	if f.seen[1].ID != slow.ID || f.seen[2].ID != fast.ID {
		t.Errorf("seen %+v", f.seen)
	}
}

func TestTransactionsThatFailLeaveHolesThatArePassed(t *testing.T) {
	db := openMySQL(t)
	gateway := newGateway(t, db)
	f := follower{queue: newQueue(t, db)}
	trimSnapshots, _, answer := appendHeld(t, db, gateway)
	fast := mustAppend(t, gateway, write(newID(), 0, 2))
	f.read(t, 100)
	trimSnapshots(true)
	var handled *es.HandledError
	if err := <-answer; !errors.As(err, &handled) {
		t.Fatal(err)
	}
	began := time.Now()
	f.until(t, 2)
	if took := time.Since(began); took > 4*time.Second { // after a timeout it would wait for five
		t.Errorf("the queue waited for a hole for %s", took)
	}
	if f.position != 3 || f.seen[0].ID != fast.ID {
		t.Errorf("seen %+v", f.seen)
	}
}

func TestWriterThatHangsStallsOthersForASecondAtMost(t *testing.T) {
	db := openMySQL(t)
	gateway := newGateway(t, db)
	f := follower{queue: newQueue(t, db)}
	trimSnapshots, _, answer := appendHeld(t, db, gateway)
	ctx, stop := context.WithCancel(t.Context())
	var following sync.WaitGroup
	following.Go(func() {
		for ctx.Err() == nil {
			f.read(t, 100)
		}
	})
	var longest time.Duration
	for began := time.Now(); time.Since(began) < 3*time.Second; {
		before := time.Now()
		mustAppend(t, gateway, write(newID(), 0, 1))
		longest = max(longest, time.Since(before))
	}
	stop()
	following.Wait()
	if longest > 20*time.Second || len(f.seen) > 0 { // InnoDB looks once a second whether a second is over
		t.Errorf("an append took %s; %d later events were read", longest, len(f.seen))
	}
	trimSnapshots(false)
	if err := <-answer; err != nil {
		t.Fatal(err)
	}
}

func TestNothingIsSkippedUnderLoad(t *testing.T) {
	db := openMySQL(t)
	gateway := newGateway(t, db)
	f := follower{queue: newQueue(t, db)}
	const writers, each = 16, 40
	var writing sync.WaitGroup
	handled := receipt("a-command-that-was-handled")
	first := write(newID(), 0, 1)
	first.Receipts = []es.Receipt{handled}
	mustAppend(t, gateway, first)
	for seed := range uint64(writers) {
		writing.Go(func() {
			random := rand.New(rand.NewPCG(seed, 1))
			id, version := newID(), uint64(0)
			for version < each {
				w := write(id, version, 1+random.IntN(3))
				if random.IntN(4) == 0 { // fails after getting its numbers
					w.Receipts = []es.Receipt{handled}
				}
				err := gateway.Append(t.Context(), w)
				var known *es.HandledError
				if err == nil {
					version += uint64(len(w.Entries))
				} else if !errors.As(err, &known) {
					t.Error(err)
					return
				}
			}
		})
	}
	written := make(chan struct{})
	go func() {
		writing.Wait()
		close(written)
	}()
	for writing := true; writing; {
		select {
		case <-written:
			writing = false
		default:
			f.read(t, 50)
		}
	}
	var total int
	if err := db.GetContext(t.Context(), &total, "SELECT COUNT(*) FROM events"); err != nil {
		t.Fatal(err)
	}
	f.until(t, total)
	versions := map[es.AggregateID]uint64{}
	for _, q := range f.seen {
		if versions[q.ID]++; q.SeqNr != versions[q.ID] {
			t.Fatalf("event %d of %s was read after event %d", q.SeqNr, q.ID, versions[q.ID]-1)
		}
	}
	if len(f.seen) != total || int(f.position) == total {
		t.Errorf("%d of %d events seen, up to number %d: were there no holes?", len(f.seen), total, f.position)
	}
}
