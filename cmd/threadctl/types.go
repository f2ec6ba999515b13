package main

import (
	"context"
	"log/slog"
	"maps"
	"math"
	"slices"

	"example.com/threads/domain/account"
	"example.com/threads/domain/task"
	"example.com/threads/domain/tenant"
	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/accountcodec"
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/interfaceadaptor/eventcodec"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/journalcheck"
	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/interfaceadaptor/taskcodec"
	"example.com/threads/interfaceadaptor/tenantcodec"
	"example.com/threads/interfaceadaptor/threadcodec"
)

// aggregateType is what this program can do only with aggregates whose type it knows.
type aggregateType struct {
	decode func(payload []byte) error
	// take writes a snapshot of the latest state.
	take  func(ctx context.Context, id eventstore.AggregateID) error
	close func(ctx context.Context) error
}

// knownTypes are the aggregate types of this application by name.
type knownTypes map[string]aggregateType

func registered(gateway eventstore.EventPersistenceGateway, log *slog.Logger) knownTypes {
	settings := repository.Settings{SnapshotEvery: math.MaxUint64, CacheBytes: 1, Logger: log} // each is loaded once
	return knownTypes{
		// Write snapshots that history can use, too.
		thread.AggregateType:  typeOf(threadcodec.Events(), chatstore.NewThreadHistory(gateway, settings)),
		task.AggregateType:    typeOf(taskcodec.Events(), chatstore.NewTaskRepository(gateway, settings)),
		account.AggregateType: typeOf(accountcodec.Events(), chatstore.NewAccountRepository(gateway, settings)),
		tenant.AggregateType:  typeOf(tenantcodec.Events(), chatstore.NewTenantRepository(gateway, settings)),
	}
}

func typeOf[S, E any](codec *eventcodec.Codec[E], aggregates *repository.Repository[S, E]) aggregateType {
	return aggregateType{
		decode: func(payload []byte) error {
			_, err := codec.Decode(payload)
			return err
		},
		take: func(ctx context.Context, id eventstore.AggregateID) error {
			key, err := keyOf(id)
			if err != nil {
				return err
			}
			state, err := aggregates.Reload(ctx, key)
			if err != nil {
				return err
			}
			return aggregates.SaveSnapshot(ctx, key, state)
		},
		close: aggregates.Close,
	}
}

func (t knownTypes) names() []string { return slices.Sorted(maps.Keys(t)) }

func (t knownTypes) decoders() journalcheck.Decoders {
	decoders := journalcheck.Decoders{}
	for name, kind := range t {
		decoders[name] = kind.decode
	}
	return decoders
}

func (t knownTypes) close(ctx context.Context) {
	for _, kind := range t {
		_ = kind.close(ctx) // nothing is waiting to be written
	}
}
