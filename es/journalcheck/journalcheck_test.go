package journalcheck_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/journalcheck"
)

const (
	whose    = " WHERE aggregate_id = :id"
	setEvent = "UPDATE events SET event_content = "
)

// Damages of an aggregate, with their findings and those that are left after a repair.
var spoilt = map[string]struct {
	statements []string
	want       []string
	left       []string
	head       es.Head // after the repair
}{
	"nothing": {head: es.Head{Version: 30, SnapshotVersion: 20}},
	"a head that is behind": {
		statements: []string{"UPDATE aggregates SET version = 28" + whose},
		want:       []string{"head_behind"},
		head:       es.Head{Version: 30, SnapshotVersion: 20},
	},
	"a head that is ahead": {
		statements: []string{"UPDATE aggregates SET version = 33" + whose},
		want:       []string{"head_ahead"},
		head:       es.Head{Version: 30, SnapshotVersion: 20},
	},
	"a lost head": {
		statements: []string{"DELETE FROM aggregates" + whose},
		want:       []string{"head_missing"},
		head:       es.Head{Version: 30, SnapshotVersion: 20},
	},
	"a head of another type": {
		statements: []string{"UPDATE aggregates SET type = 'other'" + whose},
		want:       []string{"head_unreadable"},
		head:       es.Head{Version: 30, SnapshotVersion: 20},
	},
	"no events": {
		statements: []string{"DELETE FROM events" + whose},
		want:       []string{"head_alone"},
		left:       []string{"head_alone"},
		head:       es.Head{Version: 30, SnapshotVersion: 20},
	},
	"gaps": {
		statements: []string{"DELETE FROM events" + whose + " AND version IN (1, 12, 13)"},
		want:       []string{"events_missing", "events_missing"},
		left:       []string{"events_missing", "events_missing"},
		head:       es.Head{Version: 30, SnapshotVersion: 20},
	},
	"a gap and a head that is behind": { // over a gap a corrected head would be wrong
		statements: []string{"DELETE FROM events" + whose + " AND version = 12", "UPDATE aggregates SET version = 11" + whose},
		want:       []string{"events_missing", "head_behind"},
		left:       []string{"events_missing", "head_behind"},
		head:       es.Head{Version: 11, SnapshotVersion: 20},
	},
	"the last events lost": {
		statements: []string{"DELETE FROM events" + whose + " AND version > 15"},
		want:       []string{"head_ahead", "snapshot_ahead", "snapshot_pointer"},
		head:       es.Head{Version: 15, SnapshotVersion: 10},
	},
	"a pointer to an older snapshot": {
		statements: []string{"UPDATE aggregates SET snapshot_version = 10" + whose},
		want:       []string{"snapshot_pointer"},
		head:       es.Head{Version: 30, SnapshotVersion: 20},
	},
	"a pointer to nothing": {
		statements: []string{"UPDATE aggregates SET snapshot_version = 25" + whose},
		want:       []string{"snapshot_pointer"},
		head:       es.Head{Version: 30, SnapshotVersion: 20},
	},
	"a pointer that is none": {
		statements: []string{"UPDATE aggregates SET snapshot_version = -7" + whose},
		want:       []string{"head_unreadable"},
		head:       es.Head{Version: 30, SnapshotVersion: 20},
	},
	"a broken snapshot": {
		statements: []string{"UPDATE snapshots SET snapshot = x'00'" + whose + " AND version = 20"},
		want:       []string{"snapshot_broken", "snapshot_pointer"},
		head:       es.Head{Version: 30, SnapshotVersion: 10},
	},
	"all snapshots broken": {
		statements: []string{"UPDATE snapshots SET checksum = 'none'" + whose},
		want: []string{
			"snapshot_broken", "snapshot_broken", "snapshot_broken", "snapshot_pointer",
		},
		head: es.Head{Version: 30},
	},
	"a lost snapshot": {
		statements: []string{"DELETE FROM snapshots" + whose + " AND version = 20"},
		want:       []string{"snapshot_pointer"},
		head:       es.Head{Version: 30, SnapshotVersion: 10},
	},
	"an event that is no JSON": {
		statements: []string{setEvent + "'{\"type\"'" + whose + " AND version = 5"},
		want:       []string{"event_unreadable"},
		left:       []string{"event_unreadable"},
		head:       es.Head{Version: 30, SnapshotVersion: 20},
	},
	"an event in another's place": { // with that event's seq_nr, id and command_id
		statements: []string{"UPDATE events SET event_content = (SELECT e.event_content FROM events e WHERE e.aggregate_id = :id AND e.version = 6)" +
			whose + " AND version = 5"},
		want: []string{"event_contradicts", "event_contradicts", "event_contradicts"},
		left: []string{"event_contradicts", "event_contradicts", "event_contradicts"},
		head: es.Head{Version: 30, SnapshotVersion: 20},
	},
	"an event of another tenant": {
		statements: []string{"UPDATE events SET event_content = replace(event_content, '\"one\"', '\"two\"')" + whose + " AND version = 5"},
		want:       []string{"event_contradicts"},
		left:       []string{"event_contradicts"},
		head:       es.Head{Version: 30, SnapshotVersion: 20},
	},
	"a head that is behind, and an unreadable event": {
		statements: []string{"UPDATE aggregates SET version = 28" + whose, setEvent + "''" + whose + " AND version = 5"},
		want:       []string{"event_unreadable", "head_behind"},
		left:       []string{"event_unreadable"},
		head:       es.Head{Version: 30, SnapshotVersion: 20},
	},
}

func TestWhatIsSpoiltIsToldAndMended(t *testing.T) {
	for name, test := range spoilt {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.aggregate(t)
			for _, statement := range test.statements {
				w.spoil(t, id, statement)
			}
			told := check(t, w, id)
			wantKinds(t, told, test.want...)
			for _, finding := range told {
				if left := slices.Contains(test.left, finding.Kind); finding.Repairable == left {
					t.Errorf("%s is left by a repair: %t; it is reported as repairable: %t", finding.Kind, left, finding.Repairable)
				}
			}
			wantDryRun(t, w, id, test.want, test.left)
			steps, left, err := journalcheck.New(w, tested).Repair(t.Context(), id, false)
			if err != nil || (len(steps) > 0) != (len(test.want) > len(test.left)) {
				t.Errorf("%q, %v", steps, err)
			}
			wantKinds(t, left, test.left...)
			wantKinds(t, check(t, w, id), test.left...)
			if head, err := w.StoredHead(t.Context(), id); err != nil || head.Head != test.head {
				t.Errorf("the head is %+v, %v; want %+v", head, err, test.head)
			}
		})
	}
}

// wantDryRun checks that a dry run reports the repair and changes nothing.
func wantDryRun(t *testing.T, w world, id es.AggregateID, want, left []string) {
	t.Helper()
	steps, still, err := journalcheck.New(w, tested).Repair(t.Context(), id, true)
	if err != nil || (len(steps) > 0) != (len(want) > len(left)) {
		t.Errorf("dry run: %q, %v", steps, err)
	}
	wantKinds(t, still, left...)
	wantKinds(t, check(t, w, id), want...)
}

func TestCommandsGoOnAfterARepair(t *testing.T) {
	w := newWorld(t)
	id := w.aggregate(t)
	w.spoil(t, id, "DELETE FROM events"+whose+" AND version > 15")
	if _, _, err := journalcheck.New(w, tested).Repair(t.Context(), id, false); err != nil {
		t.Fatal(err)
	}
	w.grow(t, id, 15, 10) // past the snapshot that was ahead of the journal
	for snapshot, err := range w.Snapshots(t.Context(), id, es.Head{Version: 25, SnapshotVersion: 10}) {
		if err != nil || snapshot.Version != 10 && snapshot.Version != 1 {
			t.Errorf("snapshot %d contains events that the repair gave up, %v", snapshot.Version, err)
		}
	}
}

func TestEveryAggregateIsChecked(t *testing.T) {
	w := newWorld(t)
	var wrong []es.AggregateID
	for i := range 20 {
		id := w.aggregate(t)
		if i%5 == 0 {
			w.spoil(t, id, "DELETE FROM aggregates"+whose)
			wrong = append(wrong, id)
		}
	}
	seen := map[es.AggregateID][]journalcheck.Finding{}
	tell := func(id es.AggregateID, found []journalcheck.Finding) error {
		seen[id] = found
		return nil
	}
	if err := journalcheck.New(w, tested).All(t.Context(), nil, tell); err != nil || len(seen) != 20 {
		t.Fatalf("%d aggregates, %v", len(seen), err)
	}
	for _, id := range wrong {
		wantKinds(t, seen[id], "head_missing")
		delete(seen, id)
	}
	for _, found := range seen {
		wantKinds(t, found)
	}

	damaged := &damagedAt{world: w, id: wrong[0]}
	if err := journalcheck.New(damaged, tested).All(t.Context(), nil, tell); err != nil || len(seen) != 20 {
		t.Fatalf("%d aggregates, %v", len(seen), err)
	}
	wantKinds(t, seen[wrong[0]], "events_unreadable")

	stop := errors.New("enough")
	if err := journalcheck.New(w, tested).All(t.Context(), nil, func(es.AggregateID, []journalcheck.Finding) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("a reader that stops gets %v", err)
	}
	none := func(es.AggregateID) bool { return false }
	if err := journalcheck.New(w, tested).All(t.Context(), none, func(es.AggregateID, []journalcheck.Finding) error { return stop }); err != nil {
		t.Errorf("with no aggregate selected: %v", err)
	}
}

// damagedAt is a store in which the events of an aggregate can't be read.
type damagedAt struct {
	world
	id es.AggregateID
}

func (d *damagedAt) StoredEntries(ctx context.Context, id es.AggregateID) iter.Seq2[es.Entry, error] {
	if id != d.id {
		return d.world.StoredEntries(ctx, id)
	}
	return func(yield func(es.Entry, error) bool) { yield(es.Entry{}, es.ErrDamaged) }
}

func TestNothingUnderAnID(t *testing.T) {
	w := newWorld(t)
	id := es.AggregateID{Type: "tested", ID: ulid.Make().String()}
	if _, err := journalcheck.New(w, tested).Aggregate(t.Context(), id); !errors.Is(err, journalcheck.ErrUnknown) {
		t.Errorf("check: %v", err)
	}
	if _, _, err := journalcheck.New(w, tested).Repair(t.Context(), id, false); !errors.Is(err, journalcheck.ErrUnknown) {
		t.Errorf("repair: %v", err)
	}
}

func TestEventsThatTheProgramCannotReadAreTold(t *testing.T) {
	w := newWorld(t)
	id := w.aggregate(t)
	found, err := journalcheck.New(w, unheardOf{tested}).Aggregate(t.Context(), id)
	if err != nil || len(found) != 30 || found[0].Kind != "event_unreadable" {
		t.Errorf("%d findings, %v", len(found), err)
	}
}

// unheardOf is a type with events of a newer program.
type unheardOf struct{ es.AnyAggregate }

func (unheardOf) DecodeEvent([]byte) (es.Recorded[any], error) {
	return es.Recorded[any]{}, errors.New("unheard of")
}

// The bytes of these snapshots are whole, and no program uses them.
func TestASnapshotOfAnotherStateIsTold(t *testing.T) {
	for name, test := range map[string]struct{ set, found string }{
		"of an earlier version": {"(snapshot, checksum) = (SELECT snapshot, checksum FROM snapshots" + whose + " AND version = 10)", "at version 10"},
		"of nothing":            {"snapshot = x'7b5d', checksum = '', encoding = ''", "can't decode"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.aggregate(t)
			checker := journalcheck.New(w, tested)
			if found, err := checker.Aggregate(t.Context(), id); err != nil || len(found) > 0 {
				t.Fatalf("told %+v, %v", found, err)
			}
			w.spoil(t, id, "UPDATE snapshots SET "+test.set+whose+" AND version = 20")
			found, err := checker.Aggregate(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			wantKinds(t, found, "snapshot_broken", "snapshot_pointer")
			if !strings.Contains(found[0].Found, test.found) {
				t.Errorf("told: %+v", found[0])
			}
			if _, _, err := checker.Repair(t.Context(), id, false); err != nil {
				t.Fatal(err)
			}
			if head, err := w.StoredHead(t.Context(), id); err != nil || head.SnapshotVersion != 10 {
				t.Errorf("the head is %+v, %v", head, err)
			}
		})
	}
}

func TestFindingsAreBounded(t *testing.T) {
	w := newWorld(t)
	id := w.aggregate(t)
	for after := uint64(30); after < 230; after += 40 {
		w.grow(t, id, after, 40)
	}
	w.spoil(t, id, setEvent+"''"+whose)
	found := check(t, w, id)
	if last := found[len(found)-1]; len(found) != 101 || last.Kind != "more" || last.Found != "130" {
		t.Errorf("%d findings, the last is %+v", len(found), last)
	}
	// A head among them can be repaired.
	w.spoil(t, id, "UPDATE aggregates SET version = 5"+whose)
	if _, _, err := journalcheck.New(w, tested).Repair(t.Context(), id, false); err != nil {
		t.Error(err)
	}
	if head, err := w.StoredHead(t.Context(), id); err != nil || head.Version != 230 {
		t.Errorf("the head is %+v, %v", head, err)
	}
}

// busy is a store in which a program appends during every check, after the journal and before the head is read.
type busy struct {
	world
	t     *testing.T
	mutex sync.Mutex
	times int
	next  uint64
}

func (b *busy) StoredHead(ctx context.Context, id es.AggregateID) (es.StoredHead, error) {
	b.mutex.Lock()
	if b.times > 0 {
		b.times--
		b.grow(b.t, id, b.next, 3)
		b.next += 3
	}
	b.mutex.Unlock()
	return b.world.StoredHead(ctx, id)
}

func TestWhatAProgramIsWritingIsNotTold(t *testing.T) {
	for _, times := range []int{1, 2, 1000} {
		w := newWorld(t)
		id := w.aggregate(t)
		wantKinds(t, check(t, &busy{world: w, t: t, times: times, next: 30}, id))
	}
}

func TestWhatIsWrongIsToldOfABusyAggregate(t *testing.T) {
	w := newWorld(t)
	id := w.aggregate(t)
	w.spoil(t, id, "UPDATE aggregates SET snapshot_version = 10"+whose)
	wantKinds(t, check(t, &busy{world: w, t: t, times: 1000, next: 30}, id), "snapshot_pointer")
}

// A head that is only ahead of what was read of the journal is right: commands have been accepted meanwhile.
func TestARepairDoesNotMoveTheHeadOfABusyAggregateBack(t *testing.T) {
	w := newWorld(t)
	id := w.aggregate(t)
	w.spoil(t, id, "UPDATE aggregates SET snapshot_version = 10"+whose)
	b := &busy{world: w, t: t, times: 1000, next: 30}
	if _, left, err := journalcheck.New(b, tested).Repair(t.Context(), id, false); err != nil || len(left) > 0 {
		t.Fatalf("%+v, %v", left, err)
	}
	if head, err := w.Head(t.Context(), id); err != nil || head.Version != b.next {
		t.Errorf("the head is %+v after %d events, %v", head, b.next, err)
	}
	wantKinds(t, check(t, w, id))
}

// contended is a store in which a program appends just before a head is replaced.
type contended struct {
	world
	t     *testing.T
	times int
	next  uint64
}

func (c *contended) ReplaceHead(ctx context.Context, id es.AggregateID, found es.StoredHead, head es.Head) error {
	if c.times > 0 {
		c.times--
		c.grow(c.t, id, c.next, 1)
		c.next++
	}
	return c.world.ReplaceHead(ctx, id, found, head)
}

func TestARepairGivesWayToCommands(t *testing.T) {
	w := newWorld(t)
	id := w.aggregate(t)
	w.spoil(t, id, "UPDATE aggregates SET snapshot_version = 10"+whose)
	_, left, err := journalcheck.New(&contended{world: w, t: t, times: 3, next: 30}, tested).Repair(t.Context(), id, false)
	if err != nil || len(left) > 0 {
		t.Fatalf("%+v, %v", left, err)
	}
	if head, err := w.Head(t.Context(), id); err != nil || head != (es.Head{Version: 33, SnapshotVersion: 20}) {
		t.Errorf("the head is %+v, %v", head, err)
	}
}
