package rowstore_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

var turnKey = es.AggregateID{Type: "order", ID: "01H42KBHCW1BZG504J4ZXKA2F2"}

func changeTo(ctx context.Context, store *rowstore.Store, version uint64) error {
	return store.Change(ctx, func(ctx context.Context, tx projection.Tx) error {
		if _, err := tx.Load(ctx, []es.AggregateID{turnKey}); err != nil {
			return err
		}
		return tx.Save(ctx, projection.Changes{Positions: map[es.AggregateID]projection.Position{turnKey: {Version: version}}})
	})
}

// Only one process has the turn. A former holder must not be able to write, whether it knows that or not.
func TestTurnsFollowEachOther(t *testing.T) {
	db := open(t, testenv.MySQL(t))
	first, err := db.AwaitTurn(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	old := db.InTerm(first.Term)
	if err := changeTo(t.Context(), old, 1); err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := db.AwaitTurn(soon, "second"); err == nil {
		t.Fatal("two processes have the turn")
	}
	first.GiveUp()
	second, err := db.AwaitTurn(t.Context(), "second")
	if err != nil {
		t.Fatal(err)
	}
	if second.Term <= first.Term {
		t.Errorf("term %d follows term %d", second.Term, first.Term)
	}
	if err := changeTo(t.Context(), old, 2); !errors.Is(err, projection.ErrTermOver) {
		t.Errorf("a write of an earlier turn was accepted: %v", err)
	}
	if err := changeTo(t.Context(), db.InTerm(second.Term), 3); err != nil {
		t.Error(err)
	}

	killHolder(t, db, "updater.") // as the server does when a process is silent
	select {
	case <-second.Held.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the process does not notice that its turn is lost")
	}
	if err := changeTo(t.Context(), db.InTerm(second.Term), 4); !errors.Is(err, projection.ErrTermOver) {
		t.Errorf("a write without the lock was accepted: %v", err)
	}
	// As on a replica that lacks the last turn and becomes the writer.
	if _, err := db.db.ExecContext(t.Context(), "UPDATE projection_turn SET term = ?", first.Term); err != nil {
		t.Fatal(err)
	}
	third, err := db.AwaitTurn(t.Context(), "third")
	if err != nil {
		t.Fatal(err)
	}
	if third.Term <= second.Term {
		t.Errorf("term %d follows term %d, which is forgotten", third.Term, second.Term)
	}
	third.GiveUp()
	second.GiveUp()
}

// killHolder closes the connection that holds a lock.
func killHolder(t *testing.T, db *fixture, lock string) {
	t.Helper()
	var holder int
	if err := db.db.GetContext(t.Context(), &holder, "SELECT IS_USED_LOCK(CONCAT(?, MD5(DATABASE())))", lock); err != nil {
		t.Fatal(err)
	}
	if _, err := db.db.ExecContext(t.Context(), fmt.Sprint("KILL ", holder)); err != nil {
		t.Fatal(err)
	}
}

// slowJournal is one whose pages take until the context ends.
type slowJournal struct {
	es.Journal
	begun chan struct{}
}

func (slowJournal) JournalParts() int { return 1 }

func (j slowJournal) ReadJournal(ctx context.Context, _, _ int, _ string) iter.Seq2[es.JournalPage, error] {
	return func(yield func(es.JournalPage, error) bool) {
		j.begun <- struct{}{}
		<-ctx.Done()
		yield(es.JournalPage{}, context.Cause(ctx))
	}
}

// A rebuild is interrupted if its process is silent, and also if that had a clock which was ahead by more than clocks
// differ.
func TestSilentRebuildsAreInterrupted(t *testing.T) {
	db := open(t, "sqlite:"+filepath.Join(t.TempDir(), "rows.db"))
	_, err := db.db.ExecContext(t.Context(), `INSERT INTO projection_rebuilds (projection, generation, set_name, handlers, phase, events_done, events_total,
		cancelled, failure, started_at, updated_at) VALUES ('test', 1, 'test~1', '', 'reading', 0, 1, 0, '', 0, 0)`)
	if err != nil {
		t.Fatal(err)
	}
	for age, want := range map[time.Duration]bool{time.Minute: true, time.Second: false, -5 * time.Minute: false, -30 * 24 * time.Hour: true} {
		if _, err := db.db.ExecContext(t.Context(), "UPDATE projection_rebuilds SET updated_at = ?", time.Now().Add(-age).UnixMicro()); err != nil {
			t.Fatal(err)
		}
		if state, err := db.RebuildState(t.Context()); err != nil || state.Interrupted != want {
			t.Errorf("silent for %s: %+v, %v", age, state, err)
		}
	}
}

// A rebuild whose connection is lost, like that of a process that was paused, must end, and another one may begin.
func TestARebuildEndsWithItsLock(t *testing.T) {
	db := open(t, testenv.MySQL(t))
	journal := slowJournal{begun: make(chan struct{}, 2)}
	rebuild := &rowstore.Rebuild{Store: db.Store, Journal: journal}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	ended := make(chan error, 2)
	go func() { ended <- rebuild.Start(ctx) }()
	<-journal.begun
	if err := rebuild.Resume(ctx); !errors.Is(err, rowstore.ErrRebuilding) {
		t.Errorf("two rebuilds have the lock: %v", err)
	}
	killHolder(t, db, "rebuild.")
	if err := <-ended; !errors.Is(err, projection.ErrTermOver) {
		t.Errorf("it ends because of %v", err)
	}
	go func() {
		err := rebuild.Resume(ctx)
		// The server frees the lock soon.
		for errors.Is(err, rowstore.ErrRebuilding) && es.Wait(ctx, 10*time.Millisecond) == nil {
			err = rebuild.Resume(ctx)
		}
		ended <- err
	}()
	select {
	case <-journal.begun:
	case <-ctx.Done():
		t.Fatal("the next rebuild does not begin")
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the next one ends because of %v", err)
	}
}

// A transaction of a turn must end before the next turn begins.
func TestTurnWaitsForWhatIsUnderWay(t *testing.T) {
	db := open(t, testenv.MySQL(t))
	first, err := db.AwaitTurn(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	began := make(chan *rowstore.Turn, 1)
	err = db.InTerm(first.Term).Change(t.Context(), func(ctx context.Context, tx projection.Tx) error {
		first.GiveUp()
		go func() {
			second, err := db.AwaitTurn(context.WithoutCancel(ctx), "second")
			if err != nil {
				t.Error(err)
			}
			began <- second
		}()
		select {
		case <-began:
			return errors.New("the next turn began while the transaction was open")
		case <-time.After(500 * time.Millisecond): // long enough for a turn to begin
		}
		return tx.Save(ctx, projection.Changes{Positions: map[es.AggregateID]projection.Position{turnKey: {Version: 7}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	(<-began).GiveUp()
}

func TestOnAFileEverybodyHasTheTurn(t *testing.T) {
	db := open(t, "sqlite:"+filepath.Join(t.TempDir(), "rows.db"))
	for range 2 {
		turn, err := db.AwaitTurn(t.Context(), "anybody")
		if err != nil {
			t.Fatal(err)
		}
		defer turn.GiveUp()
		if err := changeTo(t.Context(), db.InTerm(turn.Term), 1); err != nil {
			t.Error(err)
		}
	}
}
