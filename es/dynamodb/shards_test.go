package dynamodb_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/dynamodb"
	"example.com/threads/es/estest"
)

// sharded opens a gateway with these numbers of shards.
func (s *store) sharded(t *testing.T, shards ...int) *dynamodb.Gateway {
	settings := s.settings()
	settings.Shards = shards
	return s.open(t, settings)
}

// raised is a gateway of a program that creates aggregates under a higher number of shards. Here another program, which
// does not yet, has been faster with each of them.
type raised struct {
	*dynamodb.Gateway
	before  *dynamodb.Gateway
	created sync.Map
}

func (r *raised) Append(ctx context.Context, write es.Append) error {
	if _, again := r.created.LoadOrStore(write.ID, true); again || write.ExpectedVersion > 0 {
		return r.Gateway.Append(ctx, write)
	}
	return r.before.Append(ctx, write)
}

func (s *store) raised(t *testing.T, settings dynamodb.Settings) *raised {
	r := &raised{}
	settings.Shards = []int{64, 256}
	r.before = s.open(t, settings)
	settings.Shards = []int{256, 64}
	r.Gateway = s.open(t, settings)
	return r
}

func TestContractOfAggregatesUnderAFormerNumberOfShards(t *testing.T) {
	s := newStore(t)
	open := s.harness(func(own dynamodb.Settings) es.Store { return s.raised(t, own) })
	estest.Run(t, open)
	estest.RunJournal(t, open)
	s.transport.Clear()
	settings := s.settings()
	settings.SnapshotKeep = 5
	s.runMaintainer(t, s.raised(t, settings))
}

// placesOf returns the different keys of an aggregate's items.
func (s *store) placesOf(t *testing.T, id es.AggregateID) (places []string) {
	t.Helper()
	for _, table := range []string{s.journal, s.snapshot} {
		for _, found := range s.items(t, table, id) {
			places = append(places, str(found, "pkey"))
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// idInSeveral returns the id of an aggregate that has another shard for each of two numbers.
func idInSeveral(a, b uint64) es.AggregateID {
	for {
		id, hash := newID(), fnv.New64a()
		_, _ = hash.Write([]byte(id.ID))
		if sum := hash.Sum64(); sum%a != sum%b {
			return id
		}
	}
}

// While the order of the numbers is changed, two programs that create the same aggregate use different shards.
func TestAnAggregateIsCreatedUnderOneNumberOfShards(t *testing.T) {
	s := newStore(t)
	gateways := []*dynamodb.Gateway{s.sharded(t, 16, 64, 4), s.sharded(t, 64, 16, 4), s.sharded(t, 64, 4, 16)}
	for range 30 {
		id, winner := newID(), make(chan string, len(gateways))
		var writing sync.WaitGroup
		for _, gateway := range gateways {
			writing.Go(func() {
				write := es.Append{ID: id, Entries: entries(0, 2), FirstSnapshot: []byte("{}"), Receipts: []es.Receipt{receipt()}}
				switch err := gateway.Append(t.Context(), write); {
				case err == nil:
					winner <- write.Entries[0].EventID
				case !errors.Is(err, es.ErrConflict):
					t.Error(err)
				}
			})
		}
		writing.Wait()
		close(winner)
		if len(winner) != 1 {
			t.Fatalf("%d writes created it", len(winner))
		}
		want := <-winner
		for _, gateway := range gateways {
			wantVersion(t, gateway, id, 2)
			for entry, err := range gateway.EntriesAt(t.Context(), id, []uint64{1}) {
				if err != nil || entry.EventID != want {
					t.Errorf("%+v, %v", entry, err)
				}
			}
		}
		if places := s.placesOf(t, id); len(places) != 1 {
			t.Errorf("it is at %v", places)
		}
	}
	for stored, err := range gateways[0].StoredAggregates(t.Context()) {
		if err != nil || len(stored.Faults) > 0 {
			t.Errorf("%+v, %v", stored, err)
		}
	}
}

// A repeat of a command that creates an aggregate has a new id. It must meet its receipt wherever it is sent.
func TestAReceiptHoldsUnderEachNumberOfShards(t *testing.T) {
	s := newStore(t)
	for _, order := range [][]int{{16}, {16, 64}, {64, 16}} {
		kept := receipt()
		first := es.Append{ID: newID(), Entries: entries(0, 1), Receipts: []es.Receipt{kept}}
		if err := s.sharded(t, order...).Append(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		for _, later := range [][]int{{16, 64}, {64, 16}, {256, 64, 16}} {
			gateway := s.sharded(t, later...)
			err := gateway.Append(t.Context(), es.Append{ID: newID(), Entries: entries(0, 1), Receipts: []es.Receipt{kept}})
			if handled, is := errors.AsType[*es.HandledError](err); !is || string(handled.Receipt.Answer) != "{}" {
				t.Errorf("written with %v, repeated with %v: %v", order, later, err)
			}
			if _, found, err := gateway.Receipt(t.Context(), "", kept.CommandID); !found || err != nil {
				t.Errorf("written with %v, read with %v: %t, %v", order, later, found, err)
			}
		}
	}
}

func TestSequencesAndFilesStayWhereTheyAre(t *testing.T) {
	s := newStore(t)
	name, count := ulid.Make().String(), 0
	for number, order := range [][]int{{16}, {16, 64}, {64, 16}, {64, 256, 16}, {256, 64, 16}} {
		gateway := s.sharded(t, order...)
		if drawn, err := gateway.Draw(t.Context(), "acme", name); err != nil || drawn != uint64(number+1) {
			t.Errorf("%v: drew %d, %v", order, drawn, err)
		}
		file := es.File{Tenant: "acme", Owner: "ada", Name: fmt.Sprint("of ", order), Expires: time.Now().Add(-time.Minute)}
		if err := gateway.PutParts(t.Context(), file, 0, []byte("one")); err != nil {
			t.Fatal(err)
		}
		kept := file
		kept.Name, kept.Expires = "kept "+file.Name, time.Now().Add(time.Hour)
		if err := gateway.PutParts(t.Context(), kept, 0, []byte("two")); err != nil {
			t.Fatal(err)
		}
		part, found, err := s.sharded(t, 256, 64, 16).Part(t.Context(), kept.Tenant, kept.Name, 0)
		if string(part) != "two" || !found || err != nil {
			t.Errorf("%v: part %q, %t, %v", order, part, found, err)
		}
		count++
	}
	if deleted, err := s.sharded(t, 256, 64, 16).DeleteExpired(t.Context()); err != nil || deleted != count {
		t.Errorf("%d expired files were deleted, want %d: %v", deleted, count, err)
	}
}

// What several numbers of shards cost: the condition at the creation, and finding an aggregate once.
func TestWhatNumbersOfShardsCost(t *testing.T) {
	s := newStore(t)
	requests := func(operation string, do func() error) int {
		t.Helper()
		s.transport.Clear()
		if err := do(); err != nil {
			t.Error(err)
		}
		return len(s.transport.Calls(operation))
	}
	for _, c := range []struct {
		shards []int
		items  int // of the transaction that creates an aggregate
		more   int // reads when a process meets an aggregate for the first time
	}{{nil, 2, 0}, {[]int{16}, 2, 0}, {[]int{16, 256}, 3, 1}} {
		gateway, id := s.sharded(t, c.shards...), idInSeveral(16, 256)
		read := func() error { _, err := gateway.Head(t.Context(), id); return err }
		requests(write, func() error { return gateway.Append(t.Context(), es.Append{ID: id, Entries: entries(0, 1)}) })
		if items := strings.Count(string(s.transport.Calls(write)[0].Body), `"TableName"`); items != c.items {
			t.Errorf("%v: a creation has %d items", c.shards, items)
		}
		requests(write, func() error {
			return gateway.Append(t.Context(), es.Append{ID: id, ExpectedVersion: 1, Entries: entries(1, 1)})
		})
		if items := strings.Count(string(s.transport.Calls(write)[0].Body), `"TableName"`); items != 2 || len(s.transport.Calls("GetItem")) != c.more {
			t.Errorf("%v: a write has %d items, after %d reads", c.shards, items, len(s.transport.Calls("GetItem")))
		}
		if reads := requests("GetItem", read); reads != 1 {
			t.Errorf("%v: then a head takes %d reads", c.shards, reads)
		}
		gateway = s.sharded(t, c.shards...)
		if reads := requests("GetItem", read); reads != 1+c.more {
			t.Errorf("%v: another process's first head takes %d reads", c.shards, reads)
		}
	}
}

func TestAnAggregateInTwoPlacesIsTold(t *testing.T) {
	s := newStore(t)
	id := idInSeveral(64, 1)
	for _, shards := range []int{64, 1} { // programs that do not know each other's number
		beginAs(t, s.sharded(t, shards), id, 2)
	}
	for _, order := range [][]int{{64, 1}, {1, 64}} {
		var whole, faulty int
		for stored, err := range s.sharded(t, order...).StoredAggregates(t.Context()) {
			switch {
			case err != nil || stored.ID != id || len(stored.Faults) > 1:
				t.Errorf("%+v, %v", stored, err)
			case len(stored.Faults) == 1:
				faulty++
			default:
				whole++
			}
		}
		if whole != 1 || faulty != 1 {
			t.Errorf("with %v, %d places are right and %d wrong", order, whole, faulty)
		}
	}
}

// What is left of an aggregate under a former number is found by a check, and nobody creates it again.
func TestRemainsUnderAFormerNumberOfShards(t *testing.T) {
	s := newStore(t)
	id := begin(t, s.sharded(t, 64), 3)
	s.remove(t, s.snapshot, id, "0")
	gateway := s.sharded(t, 256, 64)
	_, is := errors.AsType[*es.InconsistentError](gateway.Append(t.Context(), es.Append{ID: id, Entries: entries(0, 1)}))
	if !is {
		t.Error("it was created again")
	}
	s.remove(t, s.journal, id, "1")
	var found []uint64
	for stored, err := range gateway.StoredAggregates(t.Context()) {
		if err != nil || stored.ID != id || len(stored.Faults) > 0 {
			t.Errorf("%+v, %v", stored, err)
		}
		for entry, err := range gateway.StoredEntries(t.Context(), stored.ID) {
			if err != nil || len(entry.Faults) > 0 {
				t.Errorf("%+v, %v", entry, err)
			}
			found = append(found, entry.SeqNr)
		}
	}
	if !slices.Equal(found, []uint64{2, 3}) {
		t.Errorf("found the events %v", found)
	}
}

func TestNumbersOfShardsThatAreNone(t *testing.T) {
	for _, shards := range [][]int{{0}, {64, -1}, {5, 4, 3, 2, 1}} {
		if _, err := dynamodb.New(nil, dynamodb.Settings{JournalTable: "journal", SnapshotTable: "snapshot", Shards: shards}); err == nil {
			t.Errorf("%v was accepted", shards)
		}
	}
}

// A write that begins an aggregate looks for it under all other numbers, in the same transaction.
func TestAFullWriteFitsBesideAllNumbersOfShards(t *testing.T) {
	gateway := newStore(t).sharded(t, 1024, 512, 256, 64)
	write := es.Append{ID: es.AggregateID{Type: "notebook", ID: ulid.Make().String()}}
	for seqNr := range uint64(es.MaxAppend) {
		write.Entries = append(write.Entries, es.Entry{
			SeqNr: seqNr + 1, EventID: ulid.Make().String(), OccurredAt: time.Now(), CommandID: ulid.Make().String(), Payload: []byte("{}"),
		})
	}
	if err := gateway.Append(t.Context(), write); err != nil {
		t.Error(err)
	}
}
