package chatrows_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/tests/kit/feed"
	"example.com/threads/tests/readmodeltest"
)

// journal is the records of some threads; a projector reads them as a [whole].
type journal map[es.AggregateID][]projection.Record

// verified is a read model with threads of two tenants, and what is needed to verify it.
type verified struct {
	*projection.Projector
	t       *testing.T
	db      *readmodeltest.Database
	store   *rowstore.Store
	journal journal
	key     es.AggregateID // a thread with all kinds of rows: former members, edited and deleted messages
}

func newVerified(t *testing.T, db *readmodeltest.Database) *verified {
	t.Helper()
	v := &verified{t: t, db: db, journal: journal{}}
	var err error
	if v.store, err = rowstore.New(db.DB, chatrows.Projection); err != nil {
		t.Fatal(err)
	}
	v.Projector = projection.New(v.store, &whole{records: v.journal}, projection.Options{FillEvents: 40}, chatrows.Handlers()...)
	random := mathrand.New(mathrand.NewPCG(7, 7))
	for _, code := range []string{"", "acme", "acme"} {
		s := begin(t, code)
		for range 150 {
			s.anything(random)
		}
		for _, recorded := range s.events {
			v.journal[s.key] = append(v.journal[s.key], feed.Record(t, eventjson.Threads().Events, recorded))
		}
		v.key = s.key
		if _, err := v.Fill(t.Context(), s.key); err != nil {
			t.Fatal(err)
		}
	}
	return v
}

// run runs a statement that changes rows.
func (v *verified) run(statement string) {
	v.t.Helper()
	result, err := v.db.DB.ExecContext(v.t.Context(), strings.ReplaceAll(statement, ":id", "'"+v.key.ID+"'"))
	if err != nil {
		v.t.Fatal(err)
	}
	if rows, err := result.RowsAffected(); err != nil || rows == 0 {
		v.t.Fatalf("%s: %d rows, %v", statement, rows, err)
	}
}

// differences verifies all aggregates and returns the differences with their rows.
func (v *verified) differences() []string {
	v.t.Helper()
	found := []string{}
	for key := range v.journal {
		if key.Type != v.key.Type {
			continue // there is nothing to compare
		}
		one, err := v.Verify(v.t.Context(), key)
		if err != nil {
			v.t.Fatal(err)
		}
		for _, d := range one.Differences {
			if d.Key != v.key || d.Expected == d.Found {
				v.t.Errorf("told: %+v", d)
			}
			found = append(found, strings.Fields(d.Row)[0]+" "+d.What)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// spoilt is a statement that changes rows, and the one difference that results.
type spoilt struct{ statement, want string }

// spoil checks that each difference is reported, and is gone after the rows were rebuilt.
func (v *verified) spoil(all []spoilt) {
	v.t.Helper()
	if found := v.differences(); len(found) > 0 {
		v.t.Fatalf("of unchanged rows: %v", found)
	}
	for _, each := range all {
		v.run(each.statement)
		if found := v.differences(); len(found) != 1 || found[0] != each.want {
			v.t.Errorf("%s:\ngot %v, want %q", each.statement, found, each.want)
		}
		if err := v.Remake(v.t.Context(), v.key); err != nil {
			v.t.Fatal(err)
		}
		if found := v.differences(); len(found) > 0 {
			v.t.Errorf("%s:\nafter the repair: %v", each.statement, found)
		}
	}
}

func TestWhatIsSpoiltInRowsIsToldAndMended(t *testing.T) {
	chatrows.SmallWindows(t, 30)
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		v := newVerified(t, db)
		v.spoil([]spoilt{
			{"UPDATE messages SET text = 'other' WHERE thread_id = :id AND deleted = 0", "messages text"},
			{"UPDATE messages SET created_at = created_at + 1 WHERE thread_id = :id", "messages created_at"},
			{"UPDATE messages SET deleted = 0 WHERE thread_id = :id AND deleted = 1", "messages deleted"},
			{"UPDATE members SET removed = 1 WHERE thread_id = :id AND removed = 0", "members removed"},
			{"DELETE FROM messages WHERE thread_id = :id AND deleted = 0", "messages a row is missing"},
			{"DELETE FROM threads WHERE id = :id", "threads a row is missing"},
			{"UPDATE members SET role = 'king' WHERE thread_id = :id", "a it holds what can't be there"},
			{"UPDATE threads SET version = 1000 WHERE id = :id", "threads version"},
			{"UPDATE projection_positions SET version = 1000 WHERE aggregate_id = :id", "the the rows claim events that the journal does not have"},
			{"INSERT INTO messages (tenant_code, id, thread_id, user_account_id, text, seq_nr, deleted, created_at, updated_at) " +
				"SELECT tenant_code, '01H42KBHCWC000000000000HE1', id, owner_id, 'never said', 3, 0, 0, 0 FROM threads WHERE id = :id", "messages a row that no event makes"},
		})
		versions, err := v.store.Versions(t.Context(), []es.AggregateID{v.key})
		if want := uint64(len(v.journal[v.key])); err != nil || versions[v.key] != want {
			t.Errorf("the position is %d, %v; want %d", versions[v.key], err, want)
		}
	})
}

func TestARowThatCannotBeReadStopsItsAggregateAlone(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		v := newVerified(t, db)
		random := mathrand.New(mathrand.NewPCG(7, 7))
		stories := []*story{begin(t, "acme"), begin(t, "acme")}
		v.key = stories[0].key
		goesOn := func() {
			t.Helper()
			for _, s := range stories {
				for range 20 {
					s.anything(random)
				}
				for _, recorded := range s.events[len(v.journal[s.key]):] {
					v.journal[s.key] = append(v.journal[s.key], feed.Record(t, eventjson.Threads().Events, recorded))
				}
			}
			if _, err := v.Fill(t.Context(), stories[0].key, stories[1].key); err != nil {
				t.Fatal(err)
			}
		}
		goesOn()
		v.run("UPDATE threads SET owner_id = 'nobody' WHERE id = :id")
		before := len(stories[0].events)
		goesOn()
		parked, err := v.store.CountParked(t.Context())
		versions, failed := v.store.Versions(t.Context(), []es.AggregateID{stories[0].key, stories[1].key})
		if err := errors.Join(err, failed); err != nil || parked != 1 || versions[v.key] != uint64(before) || versions[stories[1].key] != uint64(len(stories[1].events)) {
			t.Errorf("%d aggregates are parked, at %v: %v", parked, versions, err)
		}
		if err := v.Remake(t.Context(), v.key); err != nil {
			t.Fatal(err)
		}
		if found := v.differences(); len(found) > 0 {
			t.Errorf("after the repair: %v", found)
		}
	})
}

// A verification must not change anything, nor take a lock that delays writers.
func TestVerifyingHoldsNobodyUp(t *testing.T) {
	v := newVerified(t, readmodeltest.SQLite(t))
	v.Projector = projection.New(unchangeable{v.store}, &whole{records: v.journal}, projection.Options{}, chatrows.Handlers()...)
	if found := v.differences(); len(found) > 0 {
		t.Errorf("told %v", found)
	}
	v.run("UPDATE messages SET text = 'other' WHERE thread_id = :id AND deleted = 0")
	if found := v.differences(); len(found) != 1 {
		t.Errorf("told %v", found)
	}
}

type unchangeable struct{ *rowstore.Store }

func (unchangeable) Change(context.Context, func(context.Context, projection.Tx) error) error {
	return errors.New("nothing may change")
}

func TestAnEventThatIsBrokenLaterLeavesItsRowsAlone(t *testing.T) {
	v := newVerified(t, readmodeltest.SQLite(t))
	v.journal[v.key][4].Payload = []byte("{")
	if found := v.differences(); len(found) != 1 || !strings.Contains(found[0], "can't be used any more") {
		t.Errorf("told %v", found)
	}
	var before, after int
	count := "SELECT COUNT(*) FROM messages"
	_ = v.db.DB.GetContext(t.Context(), &before, count)
	if err := v.Remake(t.Context(), v.key); err == nil || !strings.Contains(err.Error(), "event 5") {
		t.Errorf("rows were rebuilt from an event that can't be read: %v", err)
	}
	if err := v.db.DB.GetContext(t.Context(), &after, count); err != nil || before != after || before == 0 {
		t.Errorf("%d messages, and %d before, %v", after, before, err)
	}
}

func TestRowsWithoutAJournalAreFound(t *testing.T) {
	v := newVerified(t, readmodeltest.SQLite(t))
	lost := v.journal[v.key]
	delete(v.journal, v.key)
	verified := func() (seen []es.AggregateID) {
		err := v.VerifyAll(t.Context(), nil, false, func(key es.AggregateID, _ projection.Verified) error {
			seen = append(seen, key)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		return seen
	}
	if seen := verified(); len(seen) != 3 || !slices.Contains(seen, v.key) {
		t.Errorf("verified %v", seen)
	}
	v.journal[v.key] = lost[:10] // a store that was restored to an earlier time
	if seen := verified(); len(seen) != 3 {
		t.Errorf("verified %v", seen)
	}
	if found := v.differences(); !slices.Contains(found, "the the rows claim events that the journal does not have") {
		t.Errorf("rows ahead of the journal: %v", found)
	}
	if err := v.Remake(t.Context(), v.key); err != nil {
		t.Fatal(err)
	}
	if found := v.differences(); len(found) > 0 {
		t.Errorf("after the repair: %v", found)
	}
}

// unreadable is a journal in which the events of an aggregate can't be read.
type unreadable struct {
	*whole
	aggregate es.AggregateID
	reason    error
}

func (j unreadable) Entries(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	if id != j.aggregate {
		return j.whole.Entries(ctx, id, after, upTo)
	}
	return func(yield func(es.Entry, error) bool) { yield(es.Entry{}, j.reason) }
}

// Such as a damaged file of an archive, or an item without a payload.
func TestWhatCanNotBeReadIsADifferenceOfItsAggregateAlone(t *testing.T) {
	v := newVerified(t, readmodeltest.SQLite(t))
	for _, reason := range []error{fmt.Errorf("a file: %w", es.ErrDamaged), errors.New("an item has no payload")} {
		v.Projector = projection.New(v.store, unreadable{&whole{records: v.journal}, v.key, reason}, projection.Options{}, chatrows.Handlers()...)
		told := map[es.AggregateID][]projection.Difference{}
		err := v.VerifyAll(t.Context(), nil, true, func(key es.AggregateID, found projection.Verified) error {
			told[key] = found.Differences
			return nil
		})
		if err != nil || len(told) != 3 {
			t.Fatalf("%v, %v", told, err)
		}
		for key, found := range told {
			if unread := len(found) > 0 && found[0].What == "its events can't be read"; unread != (key == v.key) {
				t.Errorf("%s: %+v", key, found)
			}
		}
	}
}

// wrongHead is a journal in which one aggregate's head and events contradict each other.
type wrongHead struct {
	*whole
	aggregate es.AggregateID
	version   uint64
}

func (j wrongHead) Head(ctx context.Context, id es.AggregateID) (es.Head, error) {
	if id == j.aggregate {
		return es.Head{Version: j.version}, nil
	}
	return j.whole.Head(ctx, id)
}

func (j wrongHead) Entries(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		for entry, err := range j.whole.Entries(ctx, id, after, upTo) {
			if !yield(entry, err) {
				return
			}
		}
		if last := uint64(len(j.of(id))); upTo > last {
			yield(es.Entry{}, &es.InconsistentError{Head: upTo, Event: last + 1})
		}
	}
}

func (j wrongHead) Heads(ctx context.Context, aggregateType string) iter.Seq2[es.StoredAggregate, error] {
	return func(yield func(es.StoredAggregate, error) bool) {
		for head, err := range j.whole.Heads(ctx, aggregateType) {
			if head.ID == j.aggregate {
				head.Version = j.version
			}
			if (head.Version > 0 || err != nil) && !yield(head, err) {
				return
			}
		}
	}
}

// A wrong head is reported as such, neither as rows ahead of a restored event store, nor in place of other differences.
func TestAWrongHeadIsADifferenceOfItsAggregateAlone(t *testing.T) {
	for name, wrongBy := range map[string]int{"ahead": 3, "one behind": -1, "behind": -3, "lost": -1000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVerified(t, readmodeltest.SQLite(t))
			var others []es.AggregateID
			for key := range v.journal {
				if key != v.key {
					others = append(others, key)
				}
			}
			broken := wrongHead{&whole{records: v.journal}, others[0], uint64(max(0, len(v.journal[others[0]])+wrongBy))}
			v.Projector = projection.New(v.store, broken, projection.Options{}, chatrows.Handlers()...)
			v.run("UPDATE threads SET name = 'other' WHERE id = :id")
			wrong := map[es.AggregateID]bool{}
			err := v.VerifyAll(t.Context(), nil, true, func(key es.AggregateID, found projection.Verified) error {
				if found.Contradicted != (key == broken.aggregate) || found.Repaired != (key == v.key) {
					t.Errorf("%s contradicts itself: %t; repaired: %t", key, found.Contradicted, found.Repaired)
				}
				if _, twice := wrong[key]; twice {
					t.Errorf("%s is verified twice", key)
				}
				wrong[key] = len(found.Differences) > 0
				return nil
			})
			if err != nil || len(wrong) != 3 || !wrong[broken.aggregate] || !wrong[v.key] || wrong[others[1]] {
				t.Errorf("%v is wrong, %v", wrong, err)
			}
			if err := v.Remake(t.Context(), broken.aggregate); err == nil {
				t.Error("rows were made again by a wrong head")
			}
			if now, err := v.store.Versions(t.Context(), others); err != nil || now[broken.aggregate] != uint64(len(v.journal[broken.aggregate])) {
				t.Errorf("the rows are at %v, %v", now, err)
			}
			if _, err := v.Repair(t.Context()); err != nil {
				t.Error(err)
			}
			if drift := v.Drift(); drift.Ahead > 0 {
				t.Errorf("the rows are held to be ahead of the journal: %+v", drift)
			}
			v.watch(func(wrong func(int)) { wrong(1) })
		})
	}
}

// A head that counts too many events parks its aggregate; once it is corrected, there is nothing to wait for.
func TestAnEventThatOnlyAHeadClaimedIsNotWaitedFor(t *testing.T) {
	v := newVerified(t, readmodeltest.SQLite(t))
	parked := func(read es.Journal, want bool) {
		t.Helper()
		projector := projection.New(v.store, read, projection.Options{}, chatrows.Handlers()...)
		if _, err := projector.Repair(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := projector.RetryParked(t.Context()); err != nil {
			t.Fatal(err)
		}
		if letters, err := rowstore.Letters(t.Context(), v.db.DB, 100); err != nil || len(letters) > 0 != want {
			t.Errorf("parked: %+v, want %t, %v", letters, want, err)
		}
	}
	written := uint64(len(v.journal[v.key]))
	parked(wrongHead{&whole{records: v.journal}, v.key, written + 3}, true)
	parked(wrongHead{&whole{records: v.journal}, v.key, written - 3}, true)
	parked(&whole{records: v.journal}, false)
	if found := v.differences(); len(found) > 0 {
		t.Errorf("told %v", found)
	}
}

// park appends an event that nobody can read to the thread, which parks it, and returns its number.
func (v *verified) park() (seqNr uint64) {
	v.t.Helper()
	unreadable := projection.Record{Key: v.key, SeqNr: uint64(len(v.journal[v.key])) + 1, Payload: []byte(`{"type":"Unheard"}`)}
	v.journal[v.key] = append(v.journal[v.key], unreadable)
	if _, err := v.Project(v.t.Context(), projection.Batch{Records: []projection.Record{unreadable}}); err != nil {
		v.t.Fatal(err)
	}
	return unreadable.SeqNr
}

func TestWhatWasSkippedIsNoDifference(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		v := newVerified(t, db)
		next := v.park()
		if err := v.Remake(t.Context(), v.key); err != nil {
			t.Fatal(err)
		}
		err := v.store.View(t.Context(), func(ctx context.Context, tx projection.Tx) error {
			positions, err := tx.Load(ctx, []es.AggregateID{v.key})
			if positions[v.key].Parked == nil {
				t.Error("a parked aggregate is not parked any more when its rows are rebuilt")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := v.store.SkipEvent(t.Context(), v.key, next-1, "not this one", "grace", time.Now()); err == nil {
			t.Error("an event was skipped although no aggregate is parked on it")
		}
		if err := v.store.SkipEvent(t.Context(), v.key, next, "no use", "grace", time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := v.RetryParked(t.Context()); err != nil {
			t.Fatal(err)
		}
		if letters, err := rowstore.Letters(t.Context(), v.db.DB, 100); len(letters) > 0 || err != nil {
			t.Errorf("the aggregate is still parked: %+v, %v", letters, err)
		}
		for range 2 {
			if found := v.differences(); len(found) > 0 {
				t.Errorf("told %v", found)
			}
			if err := v.Remake(t.Context(), v.key); err != nil {
				t.Fatal(err)
			}
		}
		skips, err := rowstore.Skips(t.Context(), db.DB, 10)
		if err != nil || len(skips) != 1 || skips[0].Reason != "no use" || skips[0].By != "grace" || skips[0].SeqNr != next || skips[0].Cause == "" {
			t.Errorf("the stored skip is %+v, %v", skips, err)
		}

		// An event that was skipped, and lost by a restore, had the number of another one.
		_, err = db.DB.ExecContext(t.Context(), `INSERT INTO skipped_events SELECT projection, tenant_code, aggregate_type, aggregate_id,
			2, 'ANOTHER', cause, reason, skipped_by, skipped_at FROM skipped_events`)
		if err != nil {
			t.Fatal(err)
		}
		if found := v.differences(); len(found) > 0 {
			t.Errorf("told %v", found)
		}
	})
}

func TestDriftShowsByItself(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	v := newVerified(t, readmodeltest.SQLite(t))
	v.watch(func(wrong func(int)) {
		wrong(0)
		v.run("UPDATE threads SET name = 'other' WHERE id = :id")
		wrong(1)
		if err := v.Remake(t.Context(), v.key); err != nil {
			t.Fatal(err)
		}
		wrong(0)
	})
}

// Rows whose last events no source brings get them from the journal after a minute, and not before.
func TestRowsThatStayBehindCatchUp(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		v := newVerified(t, readmodeltest.SQLite(t))
		s := begin(t, "acme")
		for range 3 {
			s.anything(mathrand.New(mathrand.NewPCG(8, 8)))
		}
		for _, recorded := range s.events {
			v.journal[s.key] = append(v.journal[s.key], feed.Record(t, eventjson.Threads().Events, recorded))
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			v.Watch(ctx, 1)
		}()
		for after, want := range []int{0, len(s.events)} {
			_ = es.Wait(ctx, 50*time.Second) // of simulated time
			synctest.Wait()
			versions, err := v.store.Versions(t.Context(), []es.AggregateID{s.key})
			if got := versions[s.key]; err != nil || int(got) != want {
				t.Errorf("after %d looks the rows are at version %d, not %d: %v", after+1, got, want, err)
			}
		}
		stop()
		<-ended
	})
}

// watch runs a test while the rows are verified all the time; wrong waits until so many aggregates are found wrong.
func (v *verified) watch(test func(wrong func(want int))) {
	ctx, stop := context.WithCancel(v.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		v.Watch(ctx, 1000)
	}()
	defer func() { stop(); <-ended }()
	test(func(want int) {
		v.t.Helper()
		before := v.Drift().Checked
		testenv.Eventually(v.t, 30*time.Second, func() error {
			if drift := v.Drift(); drift.Wrong != want || drift.Checked < before+3 {
				return &unexpected{drift}
			}
			return nil
		})
	})
}

type unexpected struct{ projection.Drift }

func (u *unexpected) Error() string { return "the drift is wrong" }

// TestWhatIsPrunedIsNoDifference drops rows of deleted things, as an operator may.
func TestWhatIsPrunedIsNoDifference(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		v := newVerified(t, db)
		v.run("DELETE FROM messages WHERE deleted = 1")
		v.run("DELETE FROM members WHERE removed = 1")
		if found := v.differences(); len(found) > 0 {
			t.Errorf("told %v", found)
		}
	})
}
