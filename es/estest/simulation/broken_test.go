package simulation

import (
	"context"
	"errors"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"example.com/threads/es"
)

// broken are stores that keep all of the contract but one promise, with the group of tests that must notice.
var broken = map[string]struct {
	notices string
	of      func(*store) es.EventPersistenceGateway
}{
	"a conflict is acknowledged": {"append", func(s *store) es.EventPersistenceGateway {
		return appending{s, func(ctx context.Context, write es.Append) error {
			if err := s.Append(ctx, write); !errors.Is(err, es.ErrConflict) {
				return err
			}
			return nil
		}}
	}},
	"the last of several events is lost": {"append", func(s *store) es.EventPersistenceGateway {
		return appending{s, func(ctx context.Context, write es.Append) error {
			write.Entries = write.Entries[:max(1, len(write.Entries)-1)]
			return s.Append(ctx, write)
		}}
	}},
	"nobody yields": {"concurrency", func(s *store) es.EventPersistenceGateway {
		return appending{s, func(ctx context.Context, write es.Append) error {
			write.Heed = false
			return s.Append(ctx, write)
		}}
	}},
	"a write whose answer was lost is a conflict": {"lost answer", func(s *store) es.EventPersistenceGateway {
		return appending{s, func(ctx context.Context, write es.Append) error {
			lost := s.meanwhile != nil
			if err := s.Append(ctx, write); err != nil || !lost {
				return err
			}
			return es.ErrConflict
		}}
	}},
	"receipts are forgotten": {"receipts", func(s *store) es.EventPersistenceGateway {
		return appending{s, func(ctx context.Context, write es.Append) error {
			write.Receipts = nil
			return s.Append(ctx, write)
		}}
	}},
	"a missing event is left out": {"wrong heads", func(s *store) es.EventPersistenceGateway { return forgiving{s} }},
	"the head is an old one":      {"append", func(s *store) es.EventPersistenceGateway { return stale{s} }},
	"all tenants are one":         {"tenants", func(s *store) es.EventPersistenceGateway { return tenantless{s} }},
	"the first snapshot is first": {"snapshots", func(s *store) es.EventPersistenceGateway { return reversed{s} }},
	"a broken latest snapshot stays": {"broken snapshots", func(s *store) es.EventPersistenceGateway {
		return unmended{s}
	}},
	"it goes on when its caller has gone": {"context", func(s *store) es.EventPersistenceGateway { return endless{s} }},
}

type appending struct {
	*store
	append func(context.Context, es.Append) error
}

func (b appending) Append(ctx context.Context, write es.Append) error { return b.append(ctx, write) }

type forgiving struct{ *store }

func (b forgiving) Entries(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	return func(yield func(es.Entry, error) bool) {
		for entry, err := range b.store.Entries(ctx, id, after, upTo) {
			if err != nil && es.KindOf(err) == es.Inconsistent || !yield(entry, err) {
				return
			}
		}
	}
}

type stale struct{ *store }

func (b stale) Head(ctx context.Context, id es.AggregateID) (es.Head, error) {
	head, err := b.store.Head(ctx, id)
	return es.Head{Version: head.Version - min(head.Version, 1), SnapshotVersion: head.SnapshotVersion}, err
}

type tenantless struct{ *store }

func (b tenantless) Append(ctx context.Context, write es.Append) error {
	write.ID.Tenant = ""
	return b.store.Append(ctx, write)
}

func (b tenantless) Head(ctx context.Context, id es.AggregateID) (es.Head, error) {
	id.Tenant = ""
	return b.store.Head(ctx, id)
}

func (b tenantless) Entries(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	id.Tenant = ""
	return b.store.Entries(ctx, id, after, upTo)
}

type reversed struct{ *store }

func (b reversed) Snapshots(ctx context.Context, id es.AggregateID, head es.Head) iter.Seq2[es.Snapshot, error] {
	return func(yield func(es.Snapshot, error) bool) {
		var all []es.Snapshot
		for snapshot, err := range b.store.Snapshots(ctx, id, head) {
			if err != nil {
				yield(snapshot, err)
				return
			}
			all = append(all, snapshot)
		}
		for _, snapshot := range slices.Backward(all) {
			if !yield(snapshot, nil) {
				return
			}
		}
	}
}

type unmended struct{ *store }

func (b unmended) SaveSnapshot(ctx context.Context, id es.AggregateID, snapshot es.Snapshot) error {
	if head, err := b.Head(ctx, id); err != nil || head.SnapshotVersion == snapshot.Version {
		return err
	}
	return b.store.SaveSnapshot(ctx, id, snapshot)
}

type endless struct{ *store }

func (b endless) Head(ctx context.Context, id es.AggregateID) (es.Head, error) {
	return b.store.Head(context.WithoutCancel(ctx), id)
}

const brokenVar = "BROKEN_STORE"

// The contract must fail for each broken store, where its promise is tested.
func TestTheContractFindsBrokenStores(t *testing.T) {
	for name, store := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestTheStoreKeepsTheContract$/^"+store.notices+"$", "-test.timeout=1m")
			child.Env = append(os.Environ(), brokenVar+"="+name)
			output, err := child.CombinedOutput()
			if told := "--- FAIL: TestTheStoreKeepsTheContract/" + strings.ReplaceAll(store.notices, " ", "_"); err == nil || !strings.Contains(string(output), told) {
				t.Errorf("%v, want %q in\n%s", err, told, output)
			}
		})
	}
}
