package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/sqlstore"
)

// together sends the writes in order while the file is locked, so that they share a transaction: a write of its own
// waits for the lock first. It calls before, releases the lock, and returns the writes' errors.
func together(t *testing.T, db *sqlx.DB, gateway *sqlstore.Gateway, before func(), writes ...func() error) []error {
	t.Helper()
	lock, err := db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	if _, err := lock.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	answers := make([]error, len(writes)+1)
	var done sync.WaitGroup
	begin := func(i, waiting int, write func() error) {
		done.Go(func() { answers[i] = write() })
		testenv.Eventually(t, 5*time.Second, func() error {
			if got := gateway.Waiting(); got != waiting {
				return fmt.Errorf("%d writes wait, not %d", got, waiting)
			}
			return nil
		})
	}
	first := write(newID(), 0, 1)
	started := make(chan struct{})
	done.Go(func() {
		close(started)
		answers[len(writes)] = gateway.Append(t.Context(), first)
	})
	<-started
	testenv.Eventually(t, 5*time.Second, func() error {
		if !gateway.Writing() {
			return errors.New("the first write has not started")
		}
		return nil
	})
	for i, write := range writes {
		begin(i, i+1, write)
	}
	before()
	if _, err := lock.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	done.Wait()
	if err := answers[len(writes)]; err != nil {
		t.Fatal(err)
	}
	return answers[:len(writes)]
}

func TestMembersOfAGroupDoNotHarmEachOther(t *testing.T) {
	db := openSQLite(t)
	var commits atomic.Int32
	gateway := newGateway(t, db)
	gateway.OnCommit(func() { commits.Add(1) })
	send := func(ctx context.Context, write es.Append) func() error {
		return func() error { return gateway.Append(ctx, write) }
	}
	existing := mustAppend(t, gateway, write(newID(), 0, 2))
	commits.Store(0)
	goes, cancel := context.WithCancel(t.Context())

	first := write(newID(), 0, 3)
	first.Receipts = []es.Receipt{receipt("command-of-first")}
	rival := write(first.ID, 0, 1)
	next := write(first.ID, 3, 1)
	stale := write(existing.ID, 1, 1)
	repeat := write(newID(), 0, 1)
	repeat.Receipts = []es.Receipt{receipt("command-of-first")}
	half := write(newID(), 0, 2)
	half.Receipts = []es.Receipt{receipt("command-of-half"), receipt("command-of-first")}
	gone := write(newID(), 0, 1)
	again := write(existing.ID, 2, 1)
	again.Entries[0].CommandID = existing.Entries[0].CommandID
	own := first
	last := write(existing.ID, 2, 1)

	answers := together(t, db, gateway, cancel,
		send(t.Context(), first), send(t.Context(), rival), send(t.Context(), next), send(t.Context(), stale), send(t.Context(), repeat),
		send(t.Context(), half), send(goes, gone), send(t.Context(), again), send(t.Context(), own), send(t.Context(), last))

	var handled *es.HandledError
	for i, right := range []bool{
		answers[0] == nil,
		errors.Is(answers[1], es.ErrConflict),
		answers[2] == nil,
		errors.Is(answers[3], es.ErrConflict),
		errors.As(answers[4], &handled) && handled.Receipt.CommandID == "command-of-first",
		errors.As(answers[5], &handled) && handled.Receipt.CommandID == "command-of-first",
		errors.Is(answers[6], context.Canceled),
		answers[7] != nil && !errors.Is(answers[7], es.ErrUnavailable),
		answers[8] == nil,
		answers[9] == nil,
	} {
		if !right {
			t.Errorf("write %d: %v", i, answers[i])
		}
	}
	for id, version := range map[es.AggregateID]uint64{first.ID: 4, existing.ID: 3, repeat.ID: 0, half.ID: 0, gone.ID: 0} {
		if head, err := gateway.Head(t.Context(), id); err != nil || head.Version != version {
			t.Errorf("%s is at version %d, not %d: %v", id, head.Version, version, err)
		}
	}
	if _, found, err := gateway.Receipt(t.Context(), "", "command-of-half"); found || err != nil {
		t.Errorf("a part of a failed write was stored: %t, %v", found, err)
	}
	if got := commits.Load(); got != 2 { // the write that waited for the lock, and the group
		t.Errorf("%d commits", got)
	}
}

func TestCloseFinishesWhatWasAccepted(t *testing.T) {
	db := openSQLite(t)
	gateway := newGateway(t, db)
	closed := make(chan error, 1)
	accepted := write(newID(), 0, 1)
	answers := together(t, db, gateway, func() {
		go func() { closed <- gateway.Close(t.Context()) }()
	}, func() error { return gateway.Append(t.Context(), accepted) })
	if err := errors.Join(answers[0], <-closed); err != nil {
		t.Fatal(err)
	}
	if head, err := gateway.Head(t.Context(), accepted.ID); err != nil || head.Version != 1 {
		t.Errorf("%+v, %v", head, err)
	}
	if err := gateway.Append(t.Context(), write(newID(), 0, 1)); !errors.Is(err, es.ErrUnavailable) {
		t.Errorf("an append after Close: %v", err)
	}
}

func TestLockedFileIsUnavailable(t *testing.T) {
	db := openSQLite(t)
	gateway := newGateway(t, db)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	late := write(newID(), 0, 1)
	answers := together(t, db, gateway, func() { <-ctx.Done() }, func() error { return gateway.Append(ctx, late) })
	if !errors.Is(answers[0], es.ErrUnavailable) {
		t.Error(answers[0])
	}
	mustAppend(t, gateway, write(newID(), 0, 1)) // after this the late write is either done or dropped
	if head, err := gateway.Head(t.Context(), late.ID); err != nil || head.Version != 0 {
		t.Errorf("a write whose context had ended before its turn was executed: %+v, %v", head, err)
	}
}

func TestCommitThatFailsIsTriedOnceMore(t *testing.T) {
	db, fault := openFaulty(t)
	gateway := newGateway(t, db)
	w := write(newID(), 0, 1)
	fault.refuseCommits(1)
	mustAppend(t, gateway, w)

	next, stale := write(w.ID, 1, 1), write(w.ID, 0, 1)
	for _, w := range []es.Append{next, stale} {
		fault.refuseCommits(2)
		err := gateway.Append(t.Context(), w)
		// The result of a transaction that was not committed must not reach the caller.
		if !errors.Is(err, es.ErrUnavailable) || errors.Is(err, es.ErrConflict) {
			t.Errorf("after version %d: %v", w.ExpectedVersion, err)
		}
	}
	if head, err := gateway.Head(t.Context(), w.ID); err != nil || head.Version != 1 {
		t.Errorf("%+v, %v", head, err)
	}
	mustAppend(t, gateway, next)
}

func TestWeakDurabilityIsRefused(t *testing.T) {
	db := open(t, "file:"+url.PathEscape(filepath.Join(t.TempDir(), "events.db"))+"?_pragma=synchronous(NORMAL)")
	if _, err := sqlstore.New(t.Context(), db, sqlstore.Settings{}); err == nil || !strings.Contains(err.Error(), "synchronous 1") {
		t.Errorf("a power failure could lose an acknowledged event: %v", err)
	}
}
