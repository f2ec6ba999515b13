package ctl

import (
	"context"
	"log/slog"
	"maps"
	"math"
	"slices"

	"example.com/threads/domain/account"
	"example.com/threads/domain/tenant"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/journalcheck"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/accountcodec"
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/interfaceadaptor/tenantcodec"
	"example.com/threads/interfaceadaptor/threadcodec"
)

// aggregateType is what this program can do only with aggregates whose type it knows.
type aggregateType struct {
	decoder journalcheck.Decoder
	// take writes a snapshot of the latest state.
	take  func(ctx context.Context, id es.AggregateID) error
	close func(ctx context.Context) error
}

// knownTypes are the aggregate types of this application by name.
type knownTypes map[string]aggregateType

func registered(gateway es.EventPersistenceGateway, log *slog.Logger) knownTypes {
	settings := es.Settings{SnapshotEvery: math.MaxUint64, CacheBytes: 1, Logger: log} // each is loaded once
	return knownTypes{
		thread.AggregateType:  typeOf(threadcodec.Events(), threadcodec.Snapshots{}, chatstore.NewThreadRepository(gateway, settings)),
		task.AggregateType:    typeOf(task.Events(), task.Snapshots{}, task.NewRepository(gateway, settings)),
		account.AggregateType: typeOf(accountcodec.Events(), accountcodec.Snapshots{}, chatstore.NewAccountRepository(gateway, settings)),
		tenant.AggregateType:  typeOf(tenantcodec.Events(), tenantcodec.Snapshots{}, chatstore.NewTenantRepository(gateway, settings)),
	}
}

func typeOf[S, E any](
	events *es.Codec[E], snapshots es.SnapshotCodec[S], aggregates *es.Repository[S, E],
) aggregateType {
	return aggregateType{
		decoder: journalcheck.Decoder{
			Event: func(payload []byte) error {
				_, err := events.Decode(payload)
				return err
			},
			Snapshot: func(payload []byte) (id string, version uint64, err error) {
				id, version, _, err = snapshots.Decode(payload)
				return id, version, err
			},
		},
		take: func(ctx context.Context, id es.AggregateID) error {
			state, err := aggregates.Reload(ctx, id)
			if err != nil {
				return err
			}
			return aggregates.SaveSnapshot(ctx, id, state)
		},
		close: aggregates.Close,
	}
}

func (t knownTypes) names() []string { return slices.Sorted(maps.Keys(t)) }

func (t knownTypes) decoders() journalcheck.Decoders {
	decoders := journalcheck.Decoders{}
	for name, kind := range t {
		decoders[name] = kind.decoder
	}
	return decoders
}

func (t knownTypes) close(ctx context.Context) {
	for _, kind := range t {
		_ = kind.close(ctx) // nothing is waiting to be written
	}
}
