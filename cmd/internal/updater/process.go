package updater

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/es"
	"example.com/threads/es/process"
	"example.com/threads/es/process/outbox"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/infrastructure/metrics"
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/usecase/chat"
)

// running is a running process manager.
type running struct {
	followed
	name    string
	outbox  *outbox.Outbox
	manager *process.Manager
	counts  atomic.Pointer[processCounts]
	clock   func(context.Context) error // the reason to refuse its commands for now
	finish  func(context.Context) error // called when nothing is sent any more
}

// processCounts are what the last check that succeeded has found.
type processCounts struct {
	waiting, failing int // commands
	parked           int // aggregates
	lag              time.Duration
}

// newLeaveOnClose wires the process manager of closed accounts.
func (f *journalFollower) newLeaveOnClose(databases Databases, term uint64, registry prometheus.Registerer) (*running, error) {
	log := f.ports.Log
	store, err := rowstore.New(databases.ReadModel, chat.LeaveOnClose)
	if err != nil {
		return nil, err
	}
	store = store.InTerm(term)
	// It caches few thread states, because its commands are few.
	threads := chatstore.NewThreadRepository(databases.Store.Gateway, es.Settings{CacheBytes: 1 << 20, Logger: log})
	commands := es.NewService(chat.Threads(), threads, es.Settings{CheckClock: databases.Store.CheckClock, Logger: log})
	commandsToSend := outbox.New(databases.ReadModel, store, chat.LeaveOnClose)
	manager := process.NewManager(chat.LeaveOnClose, commandsToSend, chat.SendForClosed(chat.SendWithdrawals(commands), databases.Keys.Destroy), process.Settings{Logger: log})

	registry = prometheus.WrapRegistererWithPrefix("process_", prometheus.WrapRegistererWith(prometheus.Labels{"process": chat.LeaveOnClose}, registry))
	metrics.Total(registry, "commands_sent_total", "Commands of the process that were decided.", &manager.Sent)
	metrics.Total(registry, "commands_failed_total", "Attempts to send a command of the process that failed; it is sent again.", &manager.Failures)
	projected, err := f.beside(databases, chat.LeaveOnClose, store, store, registry, projection.Options{
		Logger: log.With("process", chat.LeaveOnClose), Ignore: knownTypes(), Notify: func([]projection.Head) { manager.Wake() },
	}, chatrows.LeaveOnCloseHandlers(commandsToSend)...)
	return &running{
		followed: projected, name: chat.LeaveOnClose, outbox: commandsToSend, manager: manager, clock: databases.Store.CheckClock,
		finish: func(ctx context.Context) error { commands.Drain(); return threads.Close(ctx) },
	}, err
}

// knownTypes are the aggregate types of this application. A process manager ignores the types that it has no handler
// for.
func knownTypes() (types []string) {
	for _, handler := range chatrows.Handlers() {
		types = append(types, handler.Type())
	}
	return types
}

const finishTimeout = 2 * time.Second // for snapshots that are due at the end

// run works until ctx ends and the current batches are stored.
func (r *running) run(ctx context.Context) error {
	var sending sync.WaitGroup
	sending.Go(func() { r.manager.Run(ctx) })
	r.followed.run(ctx)
	sending.Wait()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	return r.finish(ending)
}

// check returns warnings for operators, and as an error the reason to be unready.
func (r *running) check(ctx context.Context) (warnings []string, err error) {
	waiting, failing, err := r.outbox.Count(ctx)
	if err != nil {
		return nil, err
	}
	parked, err := r.store.CountParked(ctx)
	if err := errors.Join(err, r.source.Health()); err != nil {
		return nil, err
	}
	r.counts.Store(&processCounts{waiting, failing, parked, r.source.Lag(ctx).Behind})
	if parked > 0 {
		warnings = append(warnings, fmt.Sprintf("process %s: %d aggregates are parked, and no commands are sent because of their events: "+
			"`threadctl dead-letters list` says why", r.name, parked))
	}
	if failing > 0 {
		warnings = append(warnings, fmt.Sprintf("process %s: %d of %d commands that wait have failed at least once: "+
			"`threadctl dead-letters list` says why", r.name, failing, waiting))
	}
	if wrong := r.clock(ctx); wrong != nil {
		warnings = append(warnings, fmt.Sprintf("process %s: its commands wait: %v", r.name, wrong))
	}
	return warnings, nil
}
