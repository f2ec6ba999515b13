package updater

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/interfaceadaptor/chatstore"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/interfaceadaptor/readmodel/outbox"
	"example.com/threads/interfaceadaptor/readmodel/projectionstore"
	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/interfaceadaptor/stream"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/command"
	"example.com/threads/usecase/process"
	"example.com/threads/usecase/projection"
)

// A process manager polls less often than the read model, because no user waits for it. Each poll then returns more
// events for each of its transactions.
const (
	processPollMin = 100 * time.Millisecond
	processPollMax = 500 * time.Millisecond
)

// running is a running process manager. It has a source of its own, so that it does not delay the read model.
type running struct {
	name      string
	store     *projectionstore.Store
	outbox    *outbox.Outbox
	projector *projection.Projector
	source    eventstore.Source
	manager   *process.Manager
	gauges    processGauges
	clock     func(context.Context) error // the reason to refuse its commands for now
	finish    func(context.Context) error // called when nothing is sent any more
}

// newLeaveOnClose wires the process manager of closed accounts.
func (f *journalFollower) newLeaveOnClose(databases Databases, term uint64, registry prometheus.Registerer) (*running, error) {
	log := f.ports.Log
	store, err := projectionstore.New(databases.ReadModel, chat.LeaveOnClose)
	if err != nil {
		return nil, err
	}
	store = store.InTerm(term)
	// It caches few thread states, because its commands are few.
	threads := chatstore.NewThreadRepository(databases.Store.Gateway, repository.Settings{CacheBytes: 1 << 20, Logger: log})
	commands := command.NewService(chat.Threads(), threads, command.Settings{CheckClock: databases.Store.CheckClock, Logger: log})
	commandsToSend := outbox.New(databases.ReadModel, store, chat.LeaveOnClose)
	manager := process.NewManager(chat.LeaveOnClose, commandsToSend, chat.SendForClosed(chat.SendWithdrawals(commands), databases.Keys.Destroy), process.Settings{Logger: log})

	registry = prometheus.WrapRegistererWithPrefix("process_", prometheus.WrapRegistererWith(prometheus.Labels{"process": chat.LeaveOnClose}, registry))
	outcomes := newOutcomes(registry)
	projector := projection.New(store, stream.NewJournalReader(databases.Store.Gateway), projection.Options{
		Logger: log.With("process", chat.LeaveOnClose), Observe: outcomes.count, Ignore: append(knownTypes(), f.settings.Ignore...),
		Notify: func([]projection.Head) { manager.Wake() }, Tracer: f.ports.tracer(chat.LeaveOnClose),
	}, chatrows.LeaveOnCloseHandlers(commandsToSend)...)
	settings := f.settings.Source
	settings.Polling.Min = max(settings.Polling.Min, processPollMin)
	settings.Polling.Max = max(settings.Polling.Max, processPollMax)
	source, err := databases.Store.Source(timed{projector, outcomes}, store, settings)
	if err != nil {
		return nil, err
	}
	registerCounters(registry, source)
	return &running{
		gauges: registerProcess(registry, manager),
		name:   chat.LeaveOnClose, store: store, outbox: commandsToSend, projector: projector, source: source, manager: manager, clock: databases.Store.CheckClock,
		finish: func(ctx context.Context) error { commands.Drain(); return threads.Close(ctx) },
	}, nil
}

// processGauges are set by [running.check].
type processGauges struct{ waiting, failing, parked, lag prometheus.Gauge }

// knownTypes are the aggregate types of this application. A process manager ignores the types that it has no handler
// for.
func knownTypes() (types []string) {
	for _, handler := range chatrows.Handlers() {
		types = append(types, handler.Type())
	}
	return types
}

func registerProcess(registry prometheus.Registerer, manager *process.Manager) processGauges {
	for _, c := range []struct {
		name, help string
		count      *atomic.Int64
	}{
		{"commands_sent_total", "Commands of the process that were decided.", &manager.Sent},
		{"commands_failed_total", "Attempts to send a command of the process that failed; it is sent again.", &manager.Failures},
	} {
		registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: c.name, Help: c.help}, func() float64 { return float64(c.count.Load()) }))
	}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
		registry.MustRegister(g)
		return g
	}
	return processGauges{
		waiting: gauge("commands_waiting", "Commands of the process that are not decided yet."),
		failing: gauge("commands_failing", "Those of them that have failed at least once; threadctl dead-letters lists them."),
		parked:  gauge("parked_aggregates", "Aggregates that wait for an event that the process can't take in."),
		lag:     gauge("projection_lag_seconds", "Age of the oldest record that the process has not seen; 0 when there is none."),
	}
}

const finishTimeout = 2 * time.Second // for snapshots that are due at the end

// run works until ctx ends and the current batches are stored.
func (r *running) run(ctx context.Context) error {
	var working sync.WaitGroup
	working.Go(func() { r.projector.Run(ctx) })
	working.Go(func() { r.manager.Run(ctx) })
	r.source.Run(ctx)
	working.Wait()
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
	r.gauges.waiting.Set(float64(waiting))
	r.gauges.failing.Set(float64(failing))
	r.gauges.parked.Set(float64(parked))
	r.gauges.lag.Set(r.source.Lag(ctx).Behind.Seconds())
	if parked+failing > 0 {
		warnings = append(warnings, fmt.Sprintf("process %s: %d of %d commands that wait have failed at least once, %d aggregates are parked: "+
			"`threadctl dead-letters list` says why", r.name, failing, waiting, parked))
	}
	if wrong := r.clock(ctx); wrong != nil {
		warnings = append(warnings, fmt.Sprintf("process %s: its commands wait: %v", r.name, wrong))
	}
	return warnings, nil
}
