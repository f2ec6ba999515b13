package writeapi

import (
	"context"
	"sync"

	"example.com/threads/infrastructure/memory"
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/command"
)

// kept is what has to be done for the aggregates of one type, whatever their commands are.
type kept struct {
	writeSnapshotsDue func(context.Context) (int, error)
	drain             func()
	close             func(context.Context) error
}

// services are those of every type of aggregate that this program takes commands for.
func (s *Server) services(counters *command.Counters) (rest.Services, []kept) {
	commands := command.Settings{Timeout: s.settings.StoreTimeout, Logger: s.log, Counters: counters}
	cache := s.settings.CacheBytes
	if cache == 0 {
		cache = memory.Limit() / 10
	}
	forAccounts := cache / 8 // an account is small and seldom asked for
	threads := chatstore.NewThreadRepository(s.store.Gateway, s.repository(cache-forAccounts))
	accounts := chatstore.NewAccountRepository(s.store.Gateway, s.repository(forAccounts))
	onThreads := command.NewService(chat.Threads(), threads, commands)
	onAccounts := command.NewService(chat.Accounts(), accounts, commands)
	return rest.Services{Threads: onThreads, Accounts: onAccounts}, []kept{
		{threads.WriteSnapshotsDue, onThreads.Drain, threads.Close},
		{accounts.WriteSnapshotsDue, onAccounts.Drain, accounts.Close},
	}
}

func (s *Server) repository(cacheBytes uint64) repository.Settings {
	return repository.Settings{SnapshotEvery: uint64(s.settings.SnapshotEvery), CacheBytes: cacheBytes, Logger: s.log}
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
