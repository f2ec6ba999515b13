package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"example.com/threads/es"
)

// store is an event store in memory. It has the contract of the real ones, and no faults of its own.
type store struct {
	es.Store // what is not called
	keep     int

	mutex      sync.Mutex
	aggregates map[es.AggregateID]*aggregate
	receipts   map[string]es.Receipt // by tenant and command id
	committed  func(id es.AggregateID, entries []es.Entry)
	meanwhile  func() // for the contract: called once between a write and its answer
}

type aggregate struct {
	version, pointer uint64 // the head
	entries          []es.Entry
	snapshots        map[uint64][]byte // nil: broken
	asked            bool              // to yield
}

func newStore() *store {
	return &store{
		aggregates: map[es.AggregateID]*aggregate{}, receipts: map[string]es.Receipt{},
		committed: func(es.AggregateID, []es.Entry) {},
	}
}

// begin locks the store, unless ctx has ended.
func (s *store) begin(ctx context.Context) error {
	switch err := ctx.Err(); {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", es.ErrUnavailable, err)
	case err != nil:
		return err
	}
	s.mutex.Lock()
	return nil
}

// at returns the aggregate, which is empty and not stored if there is none. The store is locked.
func (s *store) at(id es.AggregateID) *aggregate {
	if known := s.aggregates[id]; known != nil {
		return known
	}
	return &aggregate{snapshots: map[uint64][]byte{}}
}

func (s *store) Append(ctx context.Context, write es.Append) error {
	if err := write.Check(); err != nil {
		return err
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	err := s.write(write)
	meanwhile := s.meanwhile
	s.meanwhile = nil
	s.mutex.Unlock()
	if err == nil && meanwhile != nil {
		meanwhile()
		return s.Append(ctx, write) // the gateway sends again, and recognises its write
	}
	return err
}

func (s *store) write(write es.Append) error {
	a, before := s.at(write.ID), write.ExpectedVersion
	if stored := uint64(len(a.entries)); a.version >= write.NextVersion() && stored >= write.NextVersion() && a.entries[before].EventID == write.Entries[0].EventID {
		return nil // this very write, sent again
	}
	for _, receipt := range write.Receipts {
		if known, handled := s.receipts[write.ID.Tenant.String()+"/"+receipt.CommandID]; handled {
			return &es.HandledError{Receipt: known}
		}
	}
	switch {
	case a.version != before || a.asked && write.Heed:
		return es.ErrConflict
	case uint64(len(a.entries)) > before:
		return &es.InconsistentError{ID: write.ID, Head: before, Event: before + 1}
	}
	for _, receipt := range write.Receipts {
		s.receipts[write.ID.Tenant.String()+"/"+receipt.CommandID] = receipt
	}
	if write.FirstSnapshot != nil {
		a.snapshots[1] = write.FirstSnapshot
	}
	a.entries, a.version, a.asked = append(a.entries, write.Entries...), write.NextVersion(), false
	s.aggregates[write.ID] = a
	s.committed(write.ID, write.Entries)
	return nil
}

func (s *store) AskToYield(ctx context.Context, id es.AggregateID) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mutex.Unlock()
	s.at(id).asked = true
	return nil
}

func (s *store) Receipt(ctx context.Context, tenant es.Tenant, commandID string) (es.Receipt, bool, error) {
	if err := s.begin(ctx); err != nil {
		return es.Receipt{}, false, err
	}
	defer s.mutex.Unlock()
	receipt, found := s.receipts[tenant.String()+"/"+commandID]
	return receipt, found, nil
}

func (a *aggregate) head() es.Head {
	if a.pointer > a.version {
		return es.Head{Version: a.version}
	}
	return es.Head{Version: a.version, SnapshotVersion: a.pointer}
}

func (s *store) Head(ctx context.Context, id es.AggregateID) (es.Head, error) {
	if err := s.begin(ctx); err != nil {
		return es.Head{}, err
	}
	defer s.mutex.Unlock()
	return s.at(id).head(), nil
}

func (s *store) Entries(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	var seqNrs []uint64
	for seqNr := after + 1; seqNr <= upTo; seqNr++ {
		seqNrs = append(seqNrs, seqNr)
	}
	return s.EntriesAt(ctx, id, seqNrs)
}

func (s *store) EntriesAt(ctx context.Context, id es.AggregateID, seqNrs []uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		for _, seqNr := range seqNrs {
			if err := s.begin(ctx); err != nil {
				yield(es.Entry{}, err)
				return
			}
			a := s.at(id)
			s.mutex.Unlock()
			if seqNr > uint64(len(a.entries)) {
				yield(es.Entry{}, &es.InconsistentError{ID: id, Head: a.version, Event: seqNr})
				return
			}
			if !yield(a.entries[seqNr-1], nil) {
				return
			}
		}
	}
}

func (s *store) SaveSnapshot(ctx context.Context, id es.AggregateID, snapshot es.Snapshot) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mutex.Unlock()
	a := s.at(id)
	if err := a.head().Check(snapshot); err != nil {
		return err
	}
	latest := a.head().SnapshotVersion
	if latest >= snapshot.Version && a.snapshots[latest] != nil {
		return nil
	}
	a.snapshots[snapshot.Version], a.pointer = snapshot.Payload, snapshot.Version
	older := slices.Sorted(maps.Keys(a.snapshots))
	older = slices.DeleteFunc(older, func(version uint64) bool { return version == 1 || version >= snapshot.Version })
	for len(older) > s.keep {
		delete(a.snapshots, older[0])
		older = older[1:]
	}
	return nil
}

func (s *store) Snapshots(ctx context.Context, id es.AggregateID, head es.Head) iter.Seq2[es.Snapshot, error] {
	return func(yield func(es.Snapshot, error) bool) {
		if err := s.begin(ctx); err != nil {
			yield(es.Snapshot{}, err)
			return
		}
		stored := maps.Clone(s.at(id).snapshots)
		s.mutex.Unlock()
		for _, version := range slices.Backward(slices.Sorted(maps.Keys(stored))) {
			if version <= head.Version && stored[version] != nil && !yield(es.Snapshot{Version: version, Payload: stored[version]}, nil) {
				return
			}
		}
	}
}

// ids returns the aggregates that have a head, in order.
func (s *store) ids() []es.AggregateID {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.SortedFunc(maps.Keys(s.aggregates), func(a, b es.AggregateID) int {
		return cmp.Or(strings.Compare(a.Tenant.String(), b.Tenant.String()), strings.Compare(a.Type, b.Type), strings.Compare(a.ID, b.ID))
	})
}

func (s *store) Heads(ctx context.Context, aggregateType string) iter.Seq2[es.StoredAggregate, error] {
	return func(yield func(es.StoredAggregate, error) bool) {
		for _, id := range s.ids() {
			if id.Check() != nil {
				continue // its name is of no aggregate
			}
			head, err := s.Head(ctx, id)
			if id.Type == aggregateType && !yield(es.StoredAggregate{ID: id, Head: head}, err) || err != nil {
				return
			}
		}
	}
}

func (s *store) JournalParts() int { return 1 }

func (s *store) ReadJournal(ctx context.Context, part, parts int, after string) iter.Seq2[es.JournalPage, error] {
	return func(yield func(es.JournalPage, error) bool) {
		if strings.Count(after, "/") != 2 && after != "" {
			yield(es.JournalPage{}, fmt.Errorf("no page ends at %q", after))
			return
		}
		for i, id := range s.ids() {
			name := fmt.Sprint(id.Tenant, "/", id.Type, "/", id.ID)
			if i%parts != part || name <= after {
				continue
			}
			head, err := s.Head(ctx, id)
			page := es.JournalPage{Next: name}
			for entry, entryErr := range s.Entries(ctx, id, 0, head.Version) {
				if err = cmp.Or(err, entryErr); err == nil {
					page.Entries = append(page.Entries, es.Queued{ID: id, SeqNr: entry.SeqNr, Payload: entry.Payload})
				}
			}
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}
