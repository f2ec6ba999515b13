package run_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/estest/notebook"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

// changing is a journal that can be empty, and calls onPage before each page of a rebuild.
type changing struct {
	es.Journal
	empty  bool
	except es.AggregateID // that an empty journal has
	onPage func()
}

func (c *changing) Head(ctx context.Context, id es.AggregateID) (es.Head, error) {
	if c.empty && id != c.except {
		return es.Head{}, nil
	}
	return c.Journal.Head(ctx, id)
}

func (c *changing) EntriesAt(ctx context.Context, id es.AggregateID, seqNrs []uint64) iter.Seq2[es.Entry, error] {
	if c.empty {
		return func(func(es.Entry, error) bool) {}
	}
	return c.Journal.EntriesAt(ctx, id, seqNrs)
}

func (c *changing) Heads(ctx context.Context, aggregateType string) iter.Seq2[es.StoredAggregate, error] {
	return func(yield func(es.StoredAggregate, error) bool) {
		for head, err := range c.Journal.Heads(ctx, aggregateType) {
			if (err != nil || !c.empty || head.ID == c.except) && !yield(head, err) {
				return
			}
		}
	}
}

func (c *changing) ReadJournal(ctx context.Context, part, parts int, after string) iter.Seq2[es.JournalPage, error] {
	return func(yield func(es.JournalPage, error) bool) {
		if c.empty {
			return
		}
		for page, err := range c.Journal.ReadJournal(ctx, part, parts, after) {
			if c.onPage(); !yield(page, err) || err != nil {
				return
			}
		}
	}
}

// rebuilt is a world with rows of some notebooks, and what a rebuild of them needs.
type rebuilt struct {
	*world
	journal *changing
	store   *rowstore.Store
}

func onEach(t *testing.T, test func(t *testing.T, r *rebuilt)) {
	for name, open := range map[string]func(*testing.T) *world{"sqlite": newWorld, "mysql": onServer} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			_, stop := start(t, w.options(notes.Handler()))
			for written := range 3 {
				w.wantNotes(t, w.open(t, written), written)
			}
			stop()
			store, err := rowstore.New(w.file.DB, notes.Table)
			if err != nil {
				t.Fatal(err)
			}
			journal := &changing{Journal: w.file, onPage: func() {}}
			test(t, &rebuilt{w, journal, store})
		})
	}
}

func (r *rebuilt) rebuild(handlers ...projection.Handler) *rowstore.Rebuild {
	return &rowstore.Rebuild{Store: r.store, Tables: []string{notes.Table}, Journal: r.journal, Handlers: handlers}
}

// rows counts the rows of a set.
func (r *rebuilt) rows(t *testing.T, table string) (rows int) {
	t.Helper()
	if err := r.file.DB.GetContext(t.Context(), &rows, "SELECT COUNT(*) FROM "+table); err != nil {
		t.Fatal(err)
	}
	return rows
}

func (r *rebuilt) wantNothingBegun(t *testing.T) {
	t.Helper()
	if state, err := r.store.RebuildState(t.Context()); err != nil || !state.Over() {
		t.Errorf("it has begun: %+v, %v", state, err)
	}
}

func TestNoRebuildWithoutATypeThatHasRows(t *testing.T) {
	onEach(t, func(t *testing.T, r *rebuilt) {
		if err := r.rebuild().Start(t.Context()); err == nil || !strings.Contains(err.Error(), `"notebook"`) {
			t.Errorf("the rebuild ends with %v", err)
		}
		r.wantNothingBegun(t)
	})
}

// A stream may name an aggregate that does not exist: that says nothing of the event store.
func TestARecordOfNoAggregateStopsNoRebuild(t *testing.T) {
	onEach(t, func(t *testing.T, r *rebuilt) {
		record := projection.Record{Key: es.AggregateID{Type: notebook.Type, ID: "00000000000000000000000001"}, SeqNr: 1, Payload: []byte("{}")}
		projector := projection.New(r.store, r.journal, projection.Options{}, notes.Handler())
		if _, err := projector.Project(t.Context(), projection.Batch{Records: []projection.Record{record}}); err != nil {
			t.Fatal(err)
		}
		if err := r.rebuild(notes.Handler()).Start(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// An event store that is lost or wrongly configured is empty. It must not make the rows disappear by itself.
func TestNoRebuildFromAnEmptyJournalUnlessAskedFor(t *testing.T) {
	onEach(t, func(t *testing.T, r *rebuilt) {
		before := r.rows(t, notes.Table)
		rebuild := r.rebuild(notes.Handler())
		r.journal.empty = true
		if err := rebuild.Start(t.Context()); !errors.Is(err, rowstore.ErrEmptyJournal) {
			t.Errorf("the rebuild ends with %v", err)
		}
		r.wantNothingBegun(t)
		r.journal.except = r.open(t, 1)
		if err := rebuild.Start(t.Context()); !errors.Is(err, rowstore.ErrEmptyJournal) {
			t.Errorf("with one new aggregate, the rebuild ends with %v", err)
		}
		r.wantNothingBegun(t)
		r.journal.except = es.AggregateID{}

		// The journal is emptied while a rebuild is interrupted.
		ctx, kill := context.WithCancel(t.Context())
		r.journal.empty, r.journal.onPage = false, kill
		if err := rebuild.Start(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		r.journal.empty, r.journal.onPage = true, func() {}
		if err := rebuild.Resume(t.Context()); !errors.Is(err, rowstore.ErrEmptyJournal) {
			t.Errorf("the resumed rebuild ends with %v", err)
		}
		if now := r.rows(t, notes.Table); now != before || before == 0 {
			t.Errorf("there were %d rows, and there are %d", before, now)
		}

		if err := rebuild.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		rebuild.FromEmpty = true
		if err := rebuild.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		rebuild.FromEmpty = false
		if now, old := r.rows(t, notes.Table), r.rows(t, notes.Table+"_old"); now != 0 || old != before {
			t.Errorf("there are %d rows, and %d of %d beside them", now, old, before)
		}
		if err := rebuild.Start(t.Context()); err != nil {
			t.Errorf("without rows there is nothing to lose: %v", err)
		}
	})
}

// The versions of a type's rows must stay known while a program without the type runs.
func TestVersionsOutliveAProgramWithoutTheType(t *testing.T) {
	onEach(t, func(t *testing.T, r *rebuilt) {
		later := notes
		later.Version = 1000
		for _, step := range []struct {
			handlers []projection.Handler
			want     []string
		}{{[]projection.Handler{notes.Handler()}, nil}, {nil, nil}, {[]projection.Handler{later.Handler()}, []string{notebook.Type}}} {
			if outdated, err := r.rebuild(step.handlers...).Outdated(t.Context()); err != nil || !slices.Equal(outdated, step.want) {
				t.Errorf("%v is outdated, want %v: %v", outdated, step.want, err)
			}
		}
	})
}

// Two projections in one database take turns: the second to be rebuilt leaves the rows of the first alone.
func TestARebuildLeavesOtherRebuiltProjectionsAlone(t *testing.T) {
	onEach(t, func(t *testing.T, r *rebuilt) {
		if err := r.rebuild(notes.Handler()).Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, stop := start(t, r.options(notes.Handler()))
		key := r.open(t, 2)
		r.wantNotes(t, key, 2)
		stop()
		live := func() (uint64, string) {
			t.Helper()
			versions, err := r.store.Versions(t.Context(), []es.AggregateID{key})
			if err != nil {
				t.Fatal(err)
			}
			var set string
			if err := r.file.DB.GetContext(t.Context(), &set, "SELECT set_name FROM row_sets WHERE projection = ?", notes.Table); err != nil {
				t.Error(err)
			}
			return versions[key], set
		}
		version, set := live()
		other := notes
		other.Table = "other_notes"
		store, err := rowstore.New(r.file.DB, other.Table)
		if err = errors.Join(err, other.Create(t.Context(), r.file.DB)); err != nil {
			t.Fatal(err)
		}
		rebuild := &rowstore.Rebuild{Store: store, Tables: []string{other.Table}, Journal: r.journal, Handlers: []projection.Handler{other.Handler()}}
		for range 2 {
			if err := rebuild.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if now, name := live(); now != version || name != set {
				t.Errorf("version %d in the set %q, before %d in %q", now, name, version, set)
			}
		}
	})
}
