package projectiontest

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

func checkpoints(t *testing.T, db Database) {
	projector := newProjector(db, NewJournal(), newClock())
	store := func(source, shard, position string) {
		t.Helper()
		batch := projection.Batch{Checkpoint: projection.Checkpoint{Source: source, Shard: shard, Position: position}}
		if _, err := projector.Project(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	store("one", "a", "1")
	store("one", "b", strings.Repeat("9", 200))
	store("one", "a", "2")
	store("two", "a", "3")
	if err := db.Forget(t.Context(), "two", "a", "never there"); err != nil {
		t.Fatal(err)
	}
	if err := db.Forget(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string][]projection.Checkpoint{
		"one": {{Source: "one", Shard: "a", Position: "2"}, {Source: "one", Shard: "b", Position: strings.Repeat("9", 200)}},
		"two": {}, "none": {},
	} {
		got, err := db.Checkpoints(t.Context(), source)
		slices.SortFunc(got, func(a, b projection.Checkpoint) int { return strings.Compare(a.Shard, b.Shard) })
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s has %v, %v", source, got, err)
		}
	}
}

// watched is a database that reports every commit.
type watched struct {
	Database
	committed func()
}

func (w *watched) Change(ctx context.Context, change func(context.Context, projection.Tx) error) error {
	err := w.Database.Change(ctx, change)
	if err == nil {
		w.committed()
	}
	return err
}

func checkpointWithTheLastRows(t *testing.T, db Database) {
	journal := NewJournal()
	near, far := begin(t, journal, ""), begin(t, journal, "")
	for i := range 30 {
		far.write(fmt.Sprint("text ", i))
	}
	commits := 0
	observed := &watched{Database: db, committed: func() {
		commits++
		stored, err := db.Checkpoints(t.Context(), "source")
		if err != nil {
			t.Error(err)
		}
		done := versionOf(t.Context(), t, db, far.key) == 31
		if (len(stored) == 1) != done {
			t.Errorf("after commit %d: all rows are there: %v; checkpoints: %v", commits, done, stored)
		}
	}}
	_, err := newProjector(observed, journal, newClock()).Project(t.Context(), projection.Batch{
		Records: append(near.all(), far.records(31, 31)...), Checkpoint: projection.Checkpoint{Source: "source", Shard: "0", Position: "1"},
	})
	if err != nil || commits < 4 {
		t.Errorf("%d commits, %v", commits, err)
	}
	expectRows(t, db, journal)
}

// dying is a database that crashes before every commit.
type dying struct{ Database }

func (d *dying) Change(ctx context.Context, change func(context.Context, projection.Tx) error) error {
	return d.Database.Change(ctx, func(ctx context.Context, tx projection.Tx) error {
		return errors.Join(change(ctx, tx), errCrash)
	})
}

func nothingHappened(t *testing.T, db Database) {
	journal := NewJournal()
	s := begin(t, journal, "")
	_, err := newProjector(&dying{db}, journal, newClock()).Project(t.Context(), projection.Batch{Records: s.all()})
	if !errors.Is(err, errCrash) {
		t.Errorf("got %v", err)
	}
	expectVersion(t, db, s.key, 0)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newProjector(db, journal, newClock()).Project(ctx, projection.Batch{Records: s.all()}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	expectVersion(t, db, s.key, 0)
}

func twoAtOnce(t *testing.T, db Database) {
	journal := NewJournal()
	random := mathrand.New(mathrand.NewPCG(7, 7))
	told := history(t, journal, random, 6, 400)
	var applied, duplicates int
	var mu sync.Mutex
	var wait sync.WaitGroup
	for range 3 {
		wait.Go(func() {
			projector := newProjector(db, journal, newClock())
			for batch := range slices.Chunk(told, 23) {
				outcome, err := projector.Project(t.Context(), projection.Batch{
					Records: batch, Checkpoint: projection.Checkpoint{Source: "s", Shard: "0", Position: "1"},
				})
				if err != nil {
					t.Errorf("project: %v", err)
					return
				}
				mu.Lock()
				applied += outcome.Applied + outcome.Filled
				duplicates += outcome.Duplicates
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if applied != len(told) {
		t.Errorf("%d events were applied %d times, with %d duplicates", len(told), applied, duplicates)
	}
	expectRows(t, db, journal)
}

// overtaken runs what others do before and after its rows are loaded, the first time.
type overtaken struct {
	ledgers
	once          *sync.Once
	before, after func()
}

func (o overtaken) Load(ctx context.Context, tx projection.Tx, events []projection.Event) (fold projection.Fold, err error) {
	load := func() { fold, err = o.ledgers.Load(ctx, tx, events) }
	o.once.Do(func() { o.before(); load(); o.after() })
	if fold == nil && err == nil {
		load()
	}
	return fold, err
}

// overtakenAtTheFirstInsert: while a transaction finds a gap, others insert the position that it has not found, and go
// on. A row that it has loaded between them must not take the place of the newer one.
func overtakenAtTheFirstInsert(t *testing.T, db Database) {
	journal := NewJournal()
	s := begin(t, journal, "")
	s.append(entry{Text: "second", Edits: 1})
	s.append(entry{Text: "third", Edits: 1})
	other := newProjector(db, journal, newClock())
	step := func(seqNr uint64) func() {
		return func() {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			// It fails where one transaction excludes all others.
			_, _ = other.Project(ctx, projection.Batch{Records: s.records(seqNr, seqNr)})
		}
	}
	first := projection.New(db, journal, projection.Options{}, overtaken{ledgers{ledgerType, db}, new(sync.Once), step(1), step(2)})
	project(t, first, s.records(3, 3)...)
	expectRows(t, db, journal)
}

// lock: loading a position waits until the transaction that loaded it before has committed, and sees its changes.
func lock(t *testing.T, db Database) {
	journal := NewJournal()
	s := begin(t, journal, "")
	project(t, newProjector(db, journal, newClock()), s.all()...)

	loaded, goOn := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	go func() {
		first <- db.Change(t.Context(), func(ctx context.Context, tx projection.Tx) error {
			if _, err := tx.Load(ctx, []es.AggregateID{s.key}); err != nil {
				return err
			}
			close(loaded)
			<-goOn
			return tx.Save(ctx, projection.Changes{Positions: map[es.AggregateID]projection.Position{s.key: {Version: 7}}, At: time.Now()})
		})
	}()
	<-loaded
	second := make(chan map[es.AggregateID]projection.Position, 1)
	go func() {
		_ = db.Change(t.Context(), func(ctx context.Context, tx projection.Tx) error {
			positions, err := tx.Load(ctx, []es.AggregateID{s.key})
			second <- positions
			return err
		})
	}()
	select {
	case positions := <-second:
		t.Errorf("the second one did not wait")
		second <- positions
	case <-time.After(200 * time.Millisecond):
	}
	close(goOn)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	if positions := <-second; positions[s.key].Version != 7 {
		t.Errorf("the second one saw %+v", positions)
	}
}

func batchOfManyTexts(t *testing.T, db Database) {
	journal := NewJournal()
	s := begin(t, journal, strings.Repeat("z", 32))
	for range 600 {
		s.write(strings.Repeat("😀", 4000))
	}
	expectOutcome(t, project(t, newProjector(db, journal, newClock()), s.all()...), projection.Outcome{Applied: 601})
	expectRows(t, db, journal)
}
