package chatrows_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/threads/domain/account"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/tests/kit/feed"
	"example.com/threads/tests/readmodeltest"
)

// whole is a journal that grows while it is read, and calls onPage with every page.
type whole struct {
	es.Journal // what is not called

	mu      sync.Mutex
	records journal
	onPage  func()
	resumed int // reads that began after a stored position
}

func (w *whole) of(key es.AggregateID) []projection.Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.records[key])
}

func (w *whole) keys() (keys []es.AggregateID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key := range w.records {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b es.AggregateID) int { return strings.Compare(a.ID, b.ID) })
	return keys
}

func (w *whole) Head(_ context.Context, id es.AggregateID) (es.Head, error) {
	return es.Head{Version: uint64(len(w.of(id)))}, nil
}

func (w *whole) EntriesAt(_ context.Context, id es.AggregateID, seqNrs []uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		events := w.of(id)
		for _, seqNr := range seqNrs {
			entry, err := es.Entry{SeqNr: seqNr}, error(&es.InconsistentError{ID: id, Event: seqNr})
			if seqNr <= uint64(len(events)) {
				entry.Payload, err = events[seqNr-1].Payload, nil
			}
			if !yield(entry, err) {
				return
			}
		}
	}
}

func (w *whole) Entries(_ context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		for _, record := range w.of(id) {
			if record.SeqNr > after && record.SeqNr <= upTo && !yield(es.Entry{SeqNr: record.SeqNr, Payload: record.Payload}, nil) {
				return
			}
		}
	}
}

func (w *whole) Heads(_ context.Context, kind string) iter.Seq2[es.StoredAggregate, error] {
	return func(yield func(es.StoredAggregate, error) bool) {
		for _, key := range w.keys() {
			if key.Type == kind && !yield(es.StoredAggregate{ID: key, Head: es.Head{Version: uint64(len(w.of(key)))}}, nil) {
				return
			}
		}
	}
}

func (w *whole) JournalParts() int { return 2 }

// ReadJournal returns pages of few entries in no order, like the scan of a table.
func (w *whole) ReadJournal(ctx context.Context, part, parts int, after string) iter.Seq2[es.JournalPage, error] {
	if after != "" {
		w.mu.Lock()
		w.resumed++
		w.mu.Unlock()
	}
	return func(yield func(es.JournalPage, error) bool) {
		for i, key := range w.keys() {
			name := fmt.Sprintf("%03d", i)
			if i%parts != part || name <= after {
				continue
			}
			records := w.of(key)
			slices.SortFunc(records, func(a, b projection.Record) int { return strings.Compare(fmt.Sprint(a.SeqNr), fmt.Sprint(b.SeqNr)) })
			for page := range slices.Chunk(records, 20) {
				w.mu.Lock()
				onPage := w.onPage
				w.mu.Unlock()
				onPage()
				if err := ctx.Err(); err != nil {
					yield(es.JournalPage{}, err)
					return
				}
				entries := make([]es.Queued, len(page))
				for i, record := range page {
					entries[i] = es.Queued{ID: record.Key, SeqNr: record.SeqNr, Payload: record.Payload}
				}
				if !yield(es.JournalPage{Entries: entries, Next: after}, nil) {
					return
				}
			}
			after = name
		}
	}
}

// rebuilt is a verified read model that can be rebuilt.
type rebuilt struct {
	*verified
	whole *whole
}

func newRebuilt(t *testing.T, db *readmodeltest.Database) *rebuilt {
	v := newVerified(t, db)
	ada, err := writing.ParseName("Ada")
	if err != nil {
		t.Fatal(err)
	}
	registered := es.Recorded[account.Event]{
		Envelope: es.Envelope{
			EventID: "01H42KBHCWC000000000000HE2", AggregateType: account.AggregateType, AggregateID: accountID, SeqNr: 1, OccurredAt: time.UnixMicro(1).UTC(),
			Caller: es.Caller{Tenant: v.key.Tenant, Executor: accountID},
		},
		Event: account.Registered{Name: ada},
	}
	v.journal[registered.Aggregate()] = []projection.Record{feed.Record(t, eventjson.Accounts().Events, registered)}
	if _, err := v.Fill(t.Context(), registered.Aggregate()); err != nil {
		t.Fatal(err)
	}
	return &rebuilt{v, &whole{records: v.journal, onPage: func() {}}}
}

func (r *rebuilt) rebuild() *rowstore.Rebuild {
	return &rowstore.Rebuild{Store: r.store, Tables: chatrows.Tables(), Journal: r.whole, Handlers: chatrows.Handlers()}
}

const accountID = "01H42KBHCWC000000000000HE3"

// wantAccount checks that the account's row equals the journal.
func (r *rebuilt) wantAccount() {
	r.t.Helper()
	var names []string
	if err := r.db.DB.SelectContext(r.t.Context(), &names, "SELECT name FROM accounts"); err != nil || !slices.Equal(names, []string{"Ada"}) {
		r.t.Errorf("the accounts are %q, %v", names, err)
	}
}

// A set consists of all tables that queries read, and of no table of the engine or of a process manager.
func TestAllTablesOfRowsAreInASet(t *testing.T) {
	var names []string
	err := readmodeltest.SQLite(t).DB.SelectContext(t.Context(), &names, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'projection%'
		AND name NOT LIKE 'leave_on_close%' AND name NOT LIKE '%migrations' AND name NOT LIKE '%version%' AND name NOT LIKE 'sqlite%'
		AND name NOT IN ('row_sets', 'checkpoints', 'dead_letters', 'skipped_events', 'process_commands', 'skipped_commands') ORDER BY name`)
	tables := chatrows.Tables()
	slices.Sort(tables)
	if err != nil || !slices.Equal(names, tables) {
		t.Errorf("the tables are %q, and those of a set %q, %v", names, tables, err)
	}
}

// schema returns the database's tables and indexes, except those of the previous set. On SQLite every second set has
// another name for each index.
func (r *rebuilt) schema() (names []string) {
	r.t.Helper()
	query := "SELECT CONCAT(table_name, ' ', index_name, ' ', column_name, ' ', seq_in_index) FROM information_schema.statistics WHERE table_schema = DATABASE()"
	if r.db.DB.DriverName() == database.SQLite {
		query = `SELECT t.name || ' ' || COALESCE(REPLACE(i.name, '_next', '') || ' ' || c.name || ' ' || c.seqno || ' ' || i."unique", '')
			FROM sqlite_master t LEFT JOIN pragma_index_list(t.name) i LEFT JOIN pragma_index_info(i.name) c WHERE t.type = 'table'`
	}
	if err := r.db.DB.SelectContext(r.t.Context(), &names, query); err != nil {
		r.t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "_old ") })
	slices.Sort(names)
	return names
}

// wantSoundFile checks a SQLite file for what is damaged, such as an index that does not fit its table.
func (r *rebuilt) wantSoundFile() {
	r.t.Helper()
	var found []string
	if r.db.DB.DriverName() != database.SQLite {
		return
	}
	if err := r.db.DB.SelectContext(r.t.Context(), &found, "PRAGMA integrity_check"); err != nil || !slices.Equal(found, []string{"ok"}) {
		r.t.Errorf("the file: %q, %v", found, err)
	}
}

func TestRebuildMakesTheRowsThatTheJournalSays(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		r := newRebuilt(t, db)
		before := r.schema()
		for round := range 3 {
			r.run("UPDATE messages SET text = 'other' WHERE thread_id = :id AND deleted = 0")
			r.run("DELETE FROM members WHERE thread_id = :id")
			r.run("UPDATE accounts SET name = 'other' WHERE id <> :id")
			// The store was restored to an earlier time: these rows have events that the journal lacks.
			r.run("UPDATE threads SET id = '01H42KBHCWC000000000000HE1' WHERE id = :id")
			r.run("UPDATE projection_positions SET version = 1000 WHERE aggregate_id = :id")
			if err := r.rebuild().Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if found := r.differences(); len(found) > 0 {
				t.Errorf("round %d: %v", round, found)
			}
			r.wantAccount()
			var threads int
			if err := db.DB.GetContext(t.Context(), &threads, "SELECT COUNT(*) FROM threads"); err != nil || threads != 3 {
				t.Errorf("%d threads, %v", threads, err)
			}
			versions, err := readmodeltest.NewReader(t, db.DB).Versions(t.Context(), []es.AggregateID{r.key})
			if err != nil || versions[r.key] != uint64(len(r.journal[r.key])) {
				t.Errorf("the position is %v, %v", versions, err)
			}
			if after := r.schema(); !slices.Equal(before, after) {
				t.Errorf("tables and indexes were\n%v\nand are\n%v", before, after)
			}
			r.wantSoundFile()
			state, err := r.store.RebuildState(t.Context())
			if err != nil || state.DoneAt().IsZero() || state.Done != r.events() || state.Total != r.events() || state.Failure != "" {
				t.Errorf("the progress is %+v, %v", state, err)
			}
		}
	})
}

// Interrupted at any point and any number of times, a rebuild must end with the right rows, without any effect on
// readers.
func TestRebuildGoesOnWhereverItWasInterrupted(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		r := newRebuilt(t, db)
		r.run("UPDATE messages SET text = 'other' WHERE thread_id = :id AND deleted = 0")
		stopReading := r.readAllTheTime()
		var err error
		for life := 1; ; life++ {
			ctx, kill := context.WithCancel(t.Context())
			var pages atomic.Int64
			r.whole.mu.Lock()
			r.whole.onPage = func() {
				if pages.Add(1) > int64(life) {
					kill()
				}
			}
			r.whole.mu.Unlock()
			if life == 1 {
				err = r.rebuild().Start(ctx)
			} else {
				err = r.rebuild().Resume(ctx)
			}
			isStopped := ctx.Err() != nil // SQLite has an error of its own for a statement that was stopped
			kill()
			if err == nil {
				break
			}
			if !isStopped || life > 100 {
				t.Fatal(err)
			}
			state, err := r.store.RebuildState(t.Context())
			if err != nil || state.Failure != "" {
				t.Errorf("a rebuild that was stopped counts as failed: %q, %v", state.Failure, err)
			}
			// As after a kill before the progress was stored.
			if _, err := db.DB.ExecContext(t.Context(), "UPDATE projection_rebuilds SET events_done = 0"); err != nil {
				t.Fatal(err)
			}
			if err := r.rebuild().Start(t.Context()); !errors.Is(err, rowstore.ErrUnfinished) {
				t.Errorf("a second rebuild starts: %v", err)
			}
		}
		stopReading()
		if found := r.differences(); len(found) > 0 {
			t.Error(found)
		}
		if state, err := r.store.RebuildState(t.Context()); err != nil || state.Done != r.events() {
			t.Errorf("%d events were counted in all lives, want %d, %v", state.Done, r.events(), err)
		}
		if err := r.rebuild().Resume(t.Context()); !errors.Is(err, rowstore.ErrNothingBegun) {
			t.Errorf("a finished rebuild can be resumed: %v", err)
		}
		if r.whole.resumed == 0 {
			t.Error("every life read the journal from the beginning")
		}
	})
}

// events is the number of events in the journal.
func (r *rebuilt) events() (events uint64) {
	for _, records := range r.journal {
		events += uint64(len(records))
	}
	return events
}

// readAllTheTime reads until the returned function is called. Every read must succeed and see at least what the one
// before saw.
func (r *rebuilt) readAllTheTime() (stop func()) {
	reader := readmodeltest.NewReader(r.t, r.db.DB)
	ctx, end := context.WithCancel(r.t.Context())
	var readers sync.WaitGroup
	var reads atomic.Int64
	for range 2 {
		readers.Go(func() {
			var seen, version uint64
			for ctx.Err() == nil {
				versions, err := reader.Versions(ctx, []es.AggregateID{r.key})
				var rows uint64
				if err == nil {
					err = r.db.DB.GetContext(ctx, &rows, "SELECT (SELECT COUNT(*) FROM messages) + (SELECT COUNT(*) FROM members) + (SELECT COUNT(*) FROM threads)")
				}
				switch {
				case ctx.Err() != nil:
				case err != nil:
					r.t.Errorf("a reader gets an error: %v", err)
					return
				case rows < seen || versions[r.key] < version:
					r.t.Errorf("a reader sees version %d and %d rows after version %d and %d rows", versions[r.key], rows, version, seen)
					return
				}
				seen, version = rows, versions[r.key]
				reads.Add(1)
			}
		})
	}
	return func() {
		r.t.Helper()
		before := reads.Load()
		testenv.Eventually(r.t, 10*time.Second, func() error {
			if reads.Load() < before+2 {
				return errors.New("nobody reads")
			}
			return nil
		})
		end()
		readers.Wait()
	}
}

// The live projection must continue during a rebuild, and lose nothing by the switch.
func TestRebuildBesideTheLiveProjection(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		r := newRebuilt(t, db)
		hidden := make(journal)
		for key, records := range r.journal {
			if len(records) < 50 {
				continue
			}
			hidden[key] = records[50:]
			r.whole.records[key] = records[:50]
		}
		r.run("DELETE FROM messages WHERE thread_id = :id") // the rebuild restores these rows
		if err := r.rebuild().Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		stopReading := r.readAllTheTime()
		ended := make(chan error, 1)
		go func() {
			for range 3 {
				if err := r.rebuild().Start(t.Context()); err != nil {
					ended <- err
					return
				}
			}
			ended <- nil
		}()
		live := projection.New(r.store, r.whole, projection.Options{Attempts: 100}, chatrows.Handlers()...)
		for i := range 101 {
			for key := range hidden {
				if i >= len(hidden[key]) {
					continue
				}
				record := hidden[key][i]
				r.whole.mu.Lock()
				r.whole.records[key] = append(r.whole.records[key], record)
				r.whole.mu.Unlock()
				if _, err := live.Project(t.Context(), projection.Batch{Records: []projection.Record{record}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		stopReading()
		if found := r.differences(); len(found) > 0 {
			t.Error(found)
		}
	})
}

// A migration between the start and the switch changes only the live tables, so the switch must be refused.
func TestRebuildOfAnotherSchemaStaysApart(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		r := newRebuilt(t, db)
		for _, migration := range []string{"ALTER TABLE threads ADD COLUMN colour INTEGER", "CREATE INDEX by_colour ON threads (tenant_code, colour)"} {
			migrate := sync.OnceFunc(func() {
				if _, err := r.db.DB.ExecContext(t.Context(), migration); err != nil {
					t.Error(err)
				}
			})
			rebuild := r.rebuild()
			rebuild.Observe = func(state rowstore.RebuildState) {
				if state.Phase == "verifying" {
					migrate()
				}
			}
			if err := rebuild.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "a migration has changed the table threads") {
				t.Errorf("after %s, the rebuild ends with %v", migration, err)
			}
			if err := r.rebuild().Cancel(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestCancelledRebuildLeavesNothing(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		r := newRebuilt(t, db)
		before := r.schema()
		ctx, kill := context.WithCancel(t.Context())
		r.whole.onPage = kill
		if err := r.rebuild().Start(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		r.whole.onPage = func() {}
		if err := r.rebuild().Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		if after := r.schema(); !slices.Equal(before, after) {
			t.Errorf("tables and indexes were\n%v\nand are\n%v", before, after)
		}
		if err := r.rebuild().Cancel(t.Context()); !errors.Is(err, rowstore.ErrNothingBegun) {
			t.Errorf("cancelled again: %v", err)
		}

		// A running rebuild ends by itself.
		r.whole.onPage = func() {
			if _, err := db.DB.ExecContext(t.Context(), "UPDATE projection_rebuilds SET cancelled = 1"); err != nil {
				t.Error(err)
			}
			testenv.Eventually(t, 10*time.Second, func() error {
				state, err := r.store.RebuildState(t.Context())
				if err == nil && time.Since(state.UpdatedAt) > 2*time.Second {
					return nil
				}
				return errors.New("the canceled rebuild still has a progress")
			})
		}
		if err := r.rebuild().Start(t.Context()); !errors.Is(err, rowstore.ErrCancelled) {
			t.Errorf("the running rebuild: %v", err)
		}
		if db.DB.DriverName() == "sqlite" { // where Cancel drops the rows at once
			r.whole.onPage = func() {
				if err := r.rebuild().Cancel(t.Context()); err != nil && !errors.Is(err, rowstore.ErrNothingBegun) {
					t.Error(err)
				}
			}
			if err := r.rebuild().Start(t.Context()); !errors.Is(err, rowstore.ErrCancelled) {
				t.Errorf("the rebuild whose rows were dropped: %v", err)
			}
		}
		if found := r.differences(); len(found) > 0 {
			t.Error(found)
		}

		// Once the new rows are live, it is too late.
		r.whole.onPage = func() {}
		rebuild, late := r.rebuild(), error(nil)
		rebuild.Observe = func(state rowstore.RebuildState) {
			if state.Phase == "settling" && late == nil {
				late = r.rebuild().Cancel(t.Context())
			}
		}
		if err := rebuild.Start(t.Context()); err != nil || late == nil || !strings.Contains(late.Error(), "live already") {
			t.Errorf("the rebuild ends with %v, its late end with %v", err, late)
		}
	})
}

// Rows of a parked aggregate must not be replaced by rows that stop earlier: readers would see it go back.
func TestRebuildOfAParkedAggregateDoesNotGoBack(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		r := newRebuilt(t, db)
		r.park()
		good := r.journal[r.key][1].Payload
		r.journal[r.key][1].Payload = []byte("{")
		if err := r.rebuild().Start(t.Context()); err == nil || !strings.Contains(err.Error(), "stop at event 2, and the live ones do not") {
			t.Errorf("rows that stop earlier: %v", err)
		}
		// While a parked aggregate is retried, its rows are beyond the event that it is parked for.
		r.run("UPDATE dead_letters SET seq_nr = 2 WHERE aggregate_id = :id")
		if err := r.rebuild().Resume(t.Context()); err == nil || !strings.Contains(err.Error(), "lack events up to") {
			t.Errorf("rows that stop earlier, during a retry: %v", err)
		}
		r.journal[r.key][1].Payload = good
		if err := r.rebuild().Resume(t.Context()); err != nil {
			t.Errorf("rows that stop at the same event: %v", err)
		}
	})
}

// An operator who skips an event while rows are made must not find it in the way again after the switch.
func TestAnEventThatIsSkippedMeanwhileStopsTheSwitch(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		r := newRebuilt(t, db)
		next := r.park()
		rebuild := r.rebuild()
		skipped := false
		rebuild.Observe = func(state rowstore.RebuildState) {
			if skipped || state.Phase != "verifying" {
				return
			}
			skipped = true
			if err := r.store.SkipEvent(t.Context(), r.key, next, "no use", "grace", time.Now()); err != nil {
				t.Error(err)
			}
		}
		if err := rebuild.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "resume the rebuild") {
			t.Errorf("skipped meanwhile: %v", err)
		}
		if err := r.rebuild().Resume(t.Context()); err != nil {
			t.Error(err)
		}
		if parked, err := r.store.CountParked(t.Context()); parked != 0 || err != nil {
			t.Errorf("%d aggregates are parked, %v", parked, err)
		}
	})
}

// An event that an operator has skipped must stay out of the rows, readable or not.
func TestRebuildLeavesOutWhatWasSkipped(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		r := newRebuilt(t, db)
		next := r.park()
		if err := r.store.SkipEvent(t.Context(), r.key, next, "no use", "grace", time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := r.RetryParked(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.rebuild().Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if parked, err := r.store.CountParked(t.Context()); parked != 0 || err != nil {
			t.Errorf("%d aggregates are parked, %v", parked, err)
		}
		if found := r.differences(); len(found) > 0 {
			t.Error(found)
		}
	})
}

// After the event store was restored to an earlier time, the next events are new to projections that are not rebuilt.
func TestProjectionsAheadOfTheJournalGoBackToItsEnd(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		r := newRebuilt(t, db)
		other, err := rowstore.New(db.DB, "other")
		if err != nil {
			t.Fatal(err)
		}
		written := uint64(len(r.journal[r.key]))
		versions, gone := map[es.AggregateID]uint64{}, r.key
		gone.ID = "01H42KBHCWC000000000000HE9"
		for key, records := range r.journal {
			versions[key] = uint64(len(records))
		}
		versions[gone] = 2
		var behind es.AggregateID
		for key := range r.journal {
			if key != r.key && key.Type == r.key.Type {
				behind = key
			}
		}
		versions[behind]--
		positions := map[es.AggregateID]projection.Position{}
		for key, version := range versions {
			positions[key] = projection.Position{Version: version}
		}
		positions[r.key] = projection.Position{Version: written, Parked: &projection.DeadLetter{Key: r.key, SeqNr: written + 1, Reason: "refused"}}
		err = other.Change(t.Context(), func(ctx context.Context, tx projection.Tx) error {
			return tx.Save(ctx, projection.Changes{Positions: positions})
		})
		if err != nil {
			t.Fatal(err)
		}
		r.journal[r.key] = r.journal[r.key][:written-5]
		rebuild := r.rebuild()
		if err := rebuild.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		versions[r.key], versions[gone] = written-5, 0
		for key, want := range versions {
			if now, err := other.Versions(t.Context(), []es.AggregateID{key}); err != nil || now[key] != want {
				t.Errorf("%s is at %d, want %d, %v", key, now[key], want, err)
			}
		}
		if parked, err := other.CountParked(t.Context()); parked != 1 || err != nil {
			t.Errorf("%d are parked, %v", parked, err)
		}
	})
}

// Rows that are worse than the live ones must not replace them.
func TestRebuildThatStopsShortStaysApart(t *testing.T) {
	r := newRebuilt(t, readmodeltest.SQLite(t))
	good := r.journal[r.key][9].Payload
	r.journal[r.key][9].Payload = []byte("{")
	if err := r.rebuild().Start(t.Context()); err == nil || !strings.Contains(err.Error(), "event 10") {
		t.Fatalf("the rebuild ends with %v", err)
	}
	state, err := r.store.RebuildState(t.Context())
	if err != nil || state.Live || !strings.Contains(state.Failure, "event 10") {
		t.Errorf("the progress is %+v, %v", state, err)
	}
	letters, err := rowstore.Letters(t.Context(), r.db.DB, 100)
	if err != nil || len(letters) != 0 {
		t.Errorf("the live rows have dead letters: %+v, %v", letters, err)
	}
	r.journal[r.key][9].Payload = good
	if err := r.rebuild().Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := r.differences(); len(found) > 0 {
		t.Error(found)
	}
}

// unreachable is a journal that can't be read for one aggregate.
type unreachable struct {
	*whole
	of  *es.AggregateID
	err error
}

func (u unreachable) Head(ctx context.Context, id es.AggregateID) (es.Head, error) {
	if id == *u.of {
		return es.Head{}, u.err
	}
	return u.whole.Head(ctx, id)
}

// The live rows get events until the switch. If the new rows can't follow, they must not replace the live ones.
func TestNewRowsThatCanNotFollowAreNotSwitchedTo(t *testing.T) {
	const late = "01H42KBHCWC000000000300000"
	for name, c := range map[string]struct {
		payload string // of the last event, if it is spoilt
		read    error  // by readers of the journal
		want    string
	}{
		"an event that they can't take": {payload: "{", want: "not switched: the new rows of account-" + late},
		"a journal that can't be read":  {read: errors.New("down"), want: "down"},
		"a wrong head":                  {read: &es.InconsistentError{Head: 1, Event: 2}, want: "not switched: the new rows of account-" + late},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRebuilt(t, readmodeltest.SQLite(t))
			key := es.AggregateID{Tenant: r.key.Tenant, Type: account.AggregateType, ID: late}
			var down es.AggregateID
			var good []byte
			rebuild := r.rebuild()
			rebuild.Journal = unreachable{r.whole, &down, c.read}
			spoil := sync.OnceFunc(func() {
				r.rename(late, 2, "Last")
				good = r.journal[key][1].Payload
				if c.read != nil {
					down = key
				} else {
					r.journal[key][1].Payload = []byte(c.payload)
				}
			})
			rebuild.Observe = func(state rowstore.RebuildState) {
				if state.Phase == "switching" {
					spoil()
				}
			}
			if err := rebuild.Start(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the rebuild ends with %v", err)
			}
			if state, err := r.store.RebuildState(t.Context()); err != nil || state.Live {
				t.Fatalf("the new rows are live: %+v, %v", state, err)
			}
			r.journal[key][1].Payload, down = good, es.AggregateID{}
			if err := r.rebuild().Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			if found := r.differences(); len(found) > 0 {
				t.Error(found)
			}
		})
	}
}

// A rebuild that has lost its lock, for example in a pause, must not write over what another process has made since.
func TestARebuildWithoutItsLockWritesNothing(t *testing.T) {
	for name, meanwhile := range map[string]func(r *rebuilt, lose context.CancelCauseFunc) error{
		"the other one has finished it": func(r *rebuilt, lose context.CancelCauseFunc) error {
			_, err := r.db.DB.ExecContext(r.t.Context(), "UPDATE projection_rebuilds SET phase = 'done'")
			lose(projection.ErrTermOver)
			return err
		},
		"the other one's set is live": func(r *rebuilt, _ context.CancelCauseFunc) error {
			_, err := r.db.DB.ExecContext(r.t.Context(), "INSERT INTO row_sets SELECT * FROM row_sets_next WHERE projection = 'read-model' "+
				"ON CONFLICT DO UPDATE SET set_name = excluded.set_name")
			return err
		},
		"the other one makes another set": func(r *rebuilt, _ context.CancelCauseFunc) error {
			_, err := r.db.DB.ExecContext(r.t.Context(), "UPDATE row_sets_next SET set_name = 'read-model@9'")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRebuilt(t, readmodeltest.SQLite(t))
			held, lose := context.WithCancelCause(t.Context())
			var once sync.Once
			r.whole.onPage = func() {
				once.Do(func() {
					if err := meanwhile(r, lose); err != nil {
						t.Error(err)
					}
				})
			}
			if err := r.rebuild().Start(held); !errors.Is(err, projection.ErrTermOver) {
				t.Errorf("the rebuild ends with %v", err)
			}
			state, err := r.store.RebuildState(t.Context())
			if err != nil || state.Live != (name == "the other one's set is live") || name == "the other one has finished it" && state.DoneAt().IsZero() {
				t.Errorf("the progress is %+v, %v", state, err)
			}
		})
	}
}

// staleLetters lists an aggregate as parked that no longer is.
type staleLetters struct {
	*rowstore.Store
	of es.AggregateID
}

func (s staleLetters) Parked(context.Context, time.Time, es.AggregateID, int) ([]projection.DeadLetter, error) {
	return []projection.DeadLetter{{Key: s.of, SeqNr: 1}}, nil
}

// failingLater is a journal that fails after its first read.
type failingLater struct {
	*whole
	reads *int
}

func (f failingLater) Head(ctx context.Context, id es.AggregateID) (es.Head, error) {
	if *f.reads++; *f.reads == 1 {
		return f.whole.Head(ctx, id)
	}
	return es.Head{}, errors.New("down")
}

// Between the listing of a dead letter and its retry, a rebuild may have replaced the rows that it belonged to.
func TestRetryOfAnAggregateThatIsNoLongerParked(t *testing.T) {
	v := newVerified(t, readmodeltest.SQLite(t))
	projector := projection.New(staleLetters{v.store, v.key}, failingLater{&whole{records: v.journal}, new(int)}, projection.Options{}, chatrows.Handlers()...)
	if _, err := projector.RetryParked(t.Context()); err != nil {
		t.Error(err)
	}
	if parked, err := v.store.CountParked(t.Context()); parked != 0 || err != nil {
		t.Errorf("%d are parked, %v", parked, err)
	}
}

// falsified is a journal whose pages have another name of one account than its events.
type falsified struct {
	*whole
	account string
}

func (f falsified) ReadJournal(ctx context.Context, part, parts int, after string) iter.Seq2[es.JournalPage, error] {
	return func(yield func(es.JournalPage, error) bool) {
		for page, err := range f.whole.ReadJournal(ctx, part, parts, after) {
			for i, entry := range page.Entries {
				if entry.ID.ID == f.account {
					page.Entries[i].Payload = bytes.ReplaceAll(entry.Payload, []byte(`"Last"`), []byte(`"Lost"`))
				}
			}
			if !yield(page, err) {
				return
			}
		}
	}
}

// Wrong rows must not replace the live ones if they are in the sample: the first 100 aggregates, or fewer if they have
// 5,000 events.
func TestRebuildComparesASampleOfItsRows(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	for name, c := range map[string]struct {
		aggregates, events int // before the wrong row
		stops              bool
	}{
		"the 100th aggregate": {aggregates: 99, stops: true},
		"the 101st aggregate": {aggregates: 100},
		"after 4,999 events":  {events: 4999, stops: true},
		"after 5,000 events":  {events: 5000},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRebuilt(t, readmodeltest.SQLite(t))
			aggregates, events := len(r.journal), 0
			for _, records := range r.journal {
				events += len(records)
			}
			for i := range c.aggregates - aggregates {
				r.rename(fmt.Sprintf("01H42KBHCWC0000000001%05d", i), 1, "Ada")
			}
			if c.events > 0 {
				r.rename("01H42KBHCWC000000000100000", c.events-events, "Ada")
			}
			const wrong = "01H42KBHCWC000000000200000"
			r.rename(wrong, 1, "Last")
			rebuild := r.rebuild()
			rebuild.Journal = falsified{r.whole, wrong}
			err := rebuild.Start(t.Context())
			if stopped := err != nil && strings.Contains(err.Error(), "not switched: the new rows differ from the journal: account-"+wrong); stopped != c.stops {
				t.Errorf("the rebuild ends with %v", err)
			}
		})
	}
}

// rename adds an account that is registered, and renamed in its other events, to the journal and the live rows.
func (r *rebuilt) rename(id string, events int, lastName string) {
	r.t.Helper()
	key := es.AggregateID{Tenant: r.key.Tenant, Type: account.AggregateType, ID: id}
	for seqNr := uint64(1); seqNr <= uint64(events); seqNr++ {
		text := fmt.Sprint("name ", seqNr)
		if seqNr == uint64(events) {
			text = lastName
		}
		name, err := writing.ParseName(text)
		if err != nil {
			r.t.Fatal(err)
		}
		event := account.Event(account.Renamed{Name: name})
		if seqNr == 1 {
			event = account.Registered{Name: name}
		}
		r.journal[key] = append(r.journal[key], feed.Record(r.t, eventjson.Accounts().Events, es.Recorded[account.Event]{
			Envelope: es.Envelope{
				EventID: fmt.Sprintf("%s%05d", id[:21], seqNr), AggregateType: key.Type, AggregateID: id, SeqNr: seqNr, OccurredAt: time.UnixMicro(1).UTC(),
				Caller: es.Caller{Tenant: key.Tenant, Executor: id},
			},
			Event: event,
		}))
	}
	if _, err := r.Fill(r.t.Context(), key); err != nil {
		r.t.Fatal(err)
	}
}
