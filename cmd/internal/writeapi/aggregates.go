package writeapi

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/domain/account"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/memory"
	"example.com/threads/es/sequence"
	"example.com/threads/extras/erasure"
	"example.com/threads/extras/tasks"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/usecase/chat"
)

// aggregateTypes are all aggregate types with commands: their shares of the cache, deciders, repositories and queries.
func (c *Commands) aggregateTypes(codes *sequence.Sequence) []aggregateType {
	threads := func(threads rest.Service[thread.Command]) rest.Aggregate {
		return rest.Threads(chat.WithCodes(threads, codes))
	}
	orders := func(orders rest.Service[task.Order]) rest.Aggregate {
		c.Tasks.Handler = orders
		return rest.Tasks(c.Tasks)
	}
	return []aggregateType{
		of(29, chat.Threads(), chatstore.NewThreadRepository, threads, func(keys *erasure.Keyring, threads *chatstore.ThreadRepository) es.Prepare[thread.Command] {
			return chat.SealThread(keys, threads.Load)
		}),
		of(1, chat.Accounts(), chatstore.NewAccountRepository, rest.Accounts, func(keys *erasure.Keyring, _ *chatstore.AccountRepository) es.Prepare[account.Command] {
			return chat.SealAccount(keys)
		}),
		of(1, chat.Tenants(), chatstore.NewTenantRepository, rest.Tenants, nil),
		of(1, task.Decider(), task.NewRepository, orders, nil),
	}
}

// aggregateType is one of them, independent of its types of state, command and event.
type aggregateType struct {
	share uint64
	open  func(es.EventPersistenceGateway, *erasure.Keyring, es.Settings, es.Settings) kept
}

func of[S, C, E any](
	share uint64, decider es.Decider[S, C, E],
	open func(es.EventPersistenceGateway, es.Settings) *es.Repository[S, E],
	operations func(rest.Service[C]) rest.Aggregate,
	seal func(*erasure.Keyring, *es.Repository[S, E]) es.Prepare[C], // nil: there is no personal data
) aggregateType {
	return aggregateType{share, func(gateway es.EventPersistenceGateway, keys *erasure.Keyring, keep es.Settings, handle es.Settings) kept {
		aggregates := open(gateway, keep)
		service := es.NewService(decider, aggregates, handle)
		var taken rest.Service[C] = service
		if seal != nil {
			taken = es.Prepared[S, C, E]{Service: service, Prepare: seal(keys, aggregates)}
		}
		return kept{decider.Type, operations(taken), aggregates, aggregates.WriteSnapshotsDue, service.Drain, aggregates.Close}
	}}
}

// kept serves the aggregates of one type, and maintains their snapshots.
type kept struct {
	name              string
	operations        rest.Aggregate
	caching           caching
	writeSnapshotsDue func(context.Context) (int, error)
	drain             func()
	close             func(context.Context) error
}

// Commands handles the commands of all aggregates in an event store. [Commands.Finish] ends it.
type Commands struct {
	// Tasks creates tasks.
	Tasks *tasks.Intake

	all     []kept
	threads *chatstore.ThreadRepository // used by tasks only
	log     *slog.Logger
}

// NewCommands returns the commands over gateway. keys seal texts; nil: texts are not sealed. handle has what settings
// lack.
func NewCommands(gateway es.Store, keys *erasure.Keyring, settings CommandSettings, handle es.Settings) *Commands {
	log := handle.Logger
	handle.Timeout = settings.StoreTimeout
	// A task loads each thread once, so a cache is useless.
	threads := chatstore.NewThreadRepository(gateway, es.Settings{CacheBytes: 1, Logger: log})
	c := &Commands{log: log, threads: threads, Tasks: &tasks.Intake{
		Store: tasks.Store{Events: gateway, Threads: threads, Keys: keys, AuthorOf: rest.AuthorOf}, Clock: time.Now,
	}}
	types := c.aggregateTypes(sequence.New(gateway, chat.CodeKind, settings.Codes))
	var shares uint64
	for _, each := range types {
		shares += each.share
	}
	cache := settings.CacheBytes
	if cache == 0 {
		cache = min(memory.Limit()/3*2, 1<<30)
	}
	for _, each := range types {
		c.all = append(c.all, each.open(gateway, keys, es.Settings{
			SnapshotEvery: uint64(settings.SnapshotEvery), CacheBytes: max(1, cache*each.share/shares), Logger: log,
		}, handle))
	}
	return c
}

// measure registers the metrics of states and snapshots.
func (c *Commands) measure(registry prometheus.Registerer) {
	for _, each := range c.all {
		registerCache(registry, each.name, each.caching)
	}
}

// Aggregates returns the operations for REST.
func (c *Commands) Aggregates() (operations []rest.Aggregate) {
	for _, each := range c.all {
		operations = append(operations, each.operations)
	}
	return operations
}

// catchUp writes the snapshots that were due when the program ended the last time.
func (c *Commands) catchUp(ctx context.Context) {
	for _, each := range c.all {
		written, err := each.writeSnapshotsDue(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			c.log.WarnContext(ctx, "snapshots that were due at the start could not be written; the next events of their aggregates make up for it", "error", err)
		case written > 0:
			c.log.InfoContext(ctx, "wrote the snapshots that were due", "count", written)
		}
	}
}

// Finish completes the accepted work. Snapshots that take too long are abandoned.
func (c *Commands) Finish(ctx context.Context) {
	var group sync.WaitGroup
	finish := func(drain func(), closing func(context.Context) error) {
		group.Go(func() {
			drain()
			draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
			defer cancel()
			if err := closing(draining); err != nil {
				c.log.WarnContext(ctx, "snapshots that were due have been given up; the next events of their aggregates make up for it", "error", err)
			}
		})
	}
	for _, each := range c.all {
		finish(each.drain, each.close)
	}
	finish(func() {}, c.threads.Close)
	group.Wait()
}
