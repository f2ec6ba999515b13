package projection

import (
	"cmp"
	"context"
	"log/slog"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"example.com/threads/es"
)

// Options configure a [Projector]. Zero fields take their defaults.
type Options struct {
	// Tenants reports whether a tenant's events are projected; for the others the journal is empty. Default: all.
	Tenants func(es.Tenant) bool
	// Ignore lists aggregate types without a handler that are skipped on purpose.
	Ignore []string
	// Skipped are the events that operators have decided to leave out; see [Store].
	Skipped map[AtVersion]string
	// Notify, if set, is called after every commit with the changed aggregates and their versions. It must not block.
	Notify func(changed []AtVersion)
	// Observe, if set, is called with the outcome of each batch, repair and retry, also of failed ones; for a batch
	// also with its number of records, and how long it took.
	Observe func(found Outcome, records int, took time.Duration)
	// Tracer continues the traces of the events' commands; nil: none.
	Tracer trace.Tracer
	// Logger receives messages for the operator; default slog.Default().
	Logger *slog.Logger
	// Now returns the current time; default time.Now.
	Now func() time.Time
	// FillEvents limits the journal events in a transaction, and the memory that a gap needs; default 500.
	FillEvents int
	// OnlyDue is for a projector that is made anew every few seconds: its first RetryParked is like the others.
	OnlyDue bool
	// Attempts is how often a transaction is tried when it fails with [ErrTransient]; default 10, in about 2 s.
	Attempts int
}

// Projector applies events to rows. Its methods may be called concurrently, and several may work on the same store.
// Errors are [ErrTransient], wrapped, when all attempts failed; ctx's error; a fault of the whole store; the journal's.
type Projector struct {
	store    Store
	journal  es.Journal
	handlers map[string]Handler // by aggregate type
	options  Options
	logger   *slog.Logger
	woken    atomic.Bool // all parked aggregates have been retried once

	owing  chan struct{} // holds a token while the need for a repair is stored or cleared
	losses int           // how often a source reported lost records; changed with that token

	mu           sync.Mutex
	wrong        map[es.AggregateID]bool   // aggregates that differ from the journal, and whether they are ahead of it
	checked      int                       // comparisons of an aggregate with the journal
	repairSince  time.Time                 // since when a repair is due; zero: none is
	unregistered map[string]es.AggregateID // by type without a handler that is not ignored: the first aggregate met
	met          atomic.Int64              // how many events of such types were met; changed with mu
}

// New returns a projector. A source calls its methods; the program also runs [Projector.Run].
func New(store Store, journal es.Journal, options Options, handlers ...Handler) *Projector {
	if options.Tenants == nil {
		options.Tenants = func(es.Tenant) bool { return true }
	}
	if options.Notify == nil {
		options.Notify = func([]AtVersion) {}
	}
	if options.Observe == nil {
		options.Observe = func(Outcome, int, time.Duration) {}
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	options.FillEvents = cmp.Or(options.FillEvents, 500)
	options.Attempts = cmp.Or(options.Attempts, 10)
	p := &Projector{
		store: store, journal: journal, handlers: make(map[string]Handler), options: options,
		logger: cmp.Or(options.Logger, slog.Default()), owing: make(chan struct{}, 1),
		unregistered: make(map[string]es.AggregateID), wrong: make(map[es.AggregateID]bool),
	}
	for _, handler := range handlers {
		if p.handlers[handler.Type()] != nil {
			panic("projection: two handlers of " + handler.Type() + ": give each a projector with positions of its own")
		}
		p.handlers[handler.Type()] = handler
	}
	return p
}

// Project applies a batch to the rows. Afterwards every aggregate named by a record is at least at the record's SeqNr,
// or parked, or of a type without a handler. Usually this is one transaction. Aggregates with a gap, and parts that the
// database refuses as a whole, get transactions of their own. The last of them stores the checkpoint. After an error
// the batch must be handed over again; events that were already applied are then counted as duplicates.
func (p *Projector) Project(ctx context.Context, batch Batch) (outcome Outcome, err error) {
	return p.project(ctx, p.decodeAll(batch))
}

func (p *Projector) project(ctx context.Context, batch decodedBatch) (outcome Outcome, err error) {
	defer func() { p.options.Observe(outcome, batch.records, time.Since(batch.began)) }()
	ctx, span := p.startBatch(ctx, batch.runs)
	defer func() {
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}()
	done, err := p.applyAll(ctx, batch.runs, batch.mark)
	outcome = batch.outcome.plus(done.outcome)
	if err != nil || len(done.gaps) == 0 {
		return outcome, err
	}
	filled, err := p.fill(ctx, done.gaps, batch.mark)
	return outcome.plus(filled), err
}

const (
	parkedEvery = time.Second     // interval of looking for parked aggregates and a repair that are due
	typesEvery  = 10              // of these intervals between two looks at types without a handler
	repairAgain = 5 * time.Second // delay after a failed repair
)

// Run retries parked aggregates and runs the repairs that are due, until ctx ends.
func (p *Projector) Run(ctx context.Context) {
	var repairing sync.WaitGroup
	defer repairing.Wait()
	repairs := func(ctx context.Context) {
		for ctx.Err() == nil {
			pause := parkedEvery
			if p.RepairIfDue(ctx) != nil {
				pause = repairAgain
			}
			_ = es.Wait(ctx, pause) // an error is the end of ctx
		}
	}
	repairing.Go(func() { pprof.Do(ctx, pprof.Labels("projection", "repair"), repairs) })
	for look := 0; es.Wait(ctx, parkedEvery) == nil; look++ {
		if look%typesEvery == 0 {
			p.forgetTypes(ctx)
		}
		if _, err := p.RetryParked(ctx); err != nil && ctx.Err() == nil {
			p.logger.WarnContext(ctx, "retrying parked aggregates failed; next try in a moment", "error", err)
		}
	}
}
