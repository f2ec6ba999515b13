package writeapi

import (
	"context"
	"sync"

	"example.com/threads/domain/account"
	"example.com/threads/domain/thread"
	"example.com/threads/infrastructure/memory"
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/command"
	"example.com/threads/usecase/erasure"
)

// aggregateTypes are all types of aggregates that this program takes commands for: how large a share of the cache each
// has, what decides its commands, what keeps it, and what can be asked of it.
func aggregateTypes() []aggregateType {
	return []aggregateType{
		of(8, chat.Threads(), chatstore.NewThreadRepository, rest.Threads, func(keys *erasure.Keyring, threads *chatstore.ThreadRepository) command.Prepare[thread.Command] {
			return chat.SealThread(keys, threads.Load)
		}),
		of(1, chat.Accounts(), chatstore.NewAccountRepository, rest.Accounts, func(keys *erasure.Keyring, _ *chatstore.AccountRepository) command.Prepare[account.Command] {
			return chat.SealAccount(keys)
		}),
		of(1, chat.Tenants(), chatstore.NewTenantRepository, rest.Tenants, nil),
	}
}

// aggregateType is one of them, whatever its states, commands and events are.
type aggregateType struct {
	share uint64
	open  func(eventstore.EventPersistenceGateway, *erasure.Keyring, repository.Settings, command.Settings) kept
}

func of[S, C, E any](
	share uint64, decider command.Decider[S, C, E],
	open func(eventstore.EventPersistenceGateway, repository.Settings) *repository.Repository[S, E],
	operations func(rest.Service[C]) rest.Aggregate,
	seal func(*erasure.Keyring, *repository.Repository[S, E]) command.Prepare[C], // nil: nothing personal
) aggregateType {
	return aggregateType{share, func(gateway eventstore.EventPersistenceGateway, keys *erasure.Keyring, keep repository.Settings, handle command.Settings) kept {
		aggregates := open(gateway, keep)
		service := command.NewService(decider, aggregates, handle)
		var taken rest.Service[C] = service
		if seal != nil {
			taken = command.Prepared[S, C, E]{Service: service, Prepare: seal(keys, aggregates)}
		}
		return kept{operations(taken), aggregates.WriteSnapshotsDue, service.Drain, aggregates.Close}
	}}
}

// kept is what serves the aggregates of one type, and what has to be done for them.
type kept struct {
	operations        rest.Aggregate
	writeSnapshotsDue func(context.Context) (int, error)
	drain             func()
	close             func(context.Context) error
}

// open makes what serves the aggregates of all types.
func (s *Server) open(counters *command.Counters) (all []kept) {
	var shares uint64
	for _, each := range aggregateTypes() {
		shares += each.share
	}
	cache := s.settings.CacheBytes
	if cache == 0 {
		cache = memory.Limit() / 10
	}
	for _, each := range aggregateTypes() {
		all = append(all, each.open(s.store.Gateway, s.keys, repository.Settings{
			SnapshotEvery: uint64(s.settings.SnapshotEvery), CacheBytes: cache / shares * each.share, Logger: s.log,
		}, command.Settings{
			Timeout: s.settings.StoreTimeout, CheckClock: s.store.CheckClock, Logger: s.log, Counters: counters,
		}))
	}
	return all
}

func operationsOf(all []kept) (operations []rest.Aggregate) {
	for _, each := range all {
		operations = append(operations, each.operations)
	}
	return operations
}

// catchUp writes the snapshots that were due when the program last ended.
func (s *Server) catchUp(ctx context.Context, all []kept) {
	for _, each := range all {
		written, err := each.writeSnapshotsDue(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			s.log.WarnContext(ctx, "snapshots that were due at the start could not be written; the next events of their aggregates make up for it", "error", err)
		case written > 0:
			s.log.InfoContext(ctx, "wrote the snapshots that were due", "count", written)
		}
	}
}

// finish completes what has been accepted. Snapshots that take too long are given up.
func (s *Server) finish(ctx context.Context, all []kept) {
	var group sync.WaitGroup
	for _, each := range all {
		group.Go(func() {
			each.drain()
			draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
			defer cancel()
			if err := each.close(draining); err != nil {
				s.log.WarnContext(ctx, "snapshots that were due have been given up; the next events of their aggregates make up for it", "error", err)
			}
		})
	}
	group.Wait()
}
