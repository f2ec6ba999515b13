package projection

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"example.com/threads/usecase"
)

// Options are what a [Projector] can be told. The zero value is good.
type Options struct {
	// Ignore are aggregate types without a handler that are left out on purpose.
	Ignore []string
	// Skipped are the numbers of events that are left out, because operators have decided so.
	Skipped map[usecase.Key]map[uint64]bool
	// Notify is called after every commit with the aggregates that changed and their versions, on the goroutine that
	// projects: it must not block. nil is nobody.
	Notify func(changed []Head)
	// Observe is called with what has become of each batch, repair and retry, also of those that failed; nil is nobody.
	Observe func(Outcome)
	// Logger takes what operators should know; nil is nobody.
	Logger *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// FillEvents is how many events from the journal one transaction takes at most, which bounds the memory that a gap
	// takes, whatever its size; 0 is 500.
	FillEvents int
	// RepairWorkers is how many chunks of aggregates a repair looks at at once; 0 is 4.
	RepairWorkers int
	// Attempts is how often a transaction is tried while it fails for reasons that pass; 0 is 10, over about 3 s.
	Attempts int
}

// Projector brings events into rows. Its methods may be called concurrently, and any number of projectors may work on
// the same store.
type Projector struct {
	store    Store
	journal  Journal
	handlers map[string]Handler // by aggregate type
	options  Options
	logger   *slog.Logger
	woken    chan struct{} // holds a token until the parked aggregates have been made due
	repairs  chan struct{} // holds a token while a repair is to begin

	drift drift

	owing  sync.Mutex // held while it is stored whether a repair is due
	losses int        // how often records were lost

	mu           sync.Mutex
	repairSince  time.Time              // since when one is due; zero: none is
	unregistered map[string]usecase.Key // types without a handler that have events, and the first aggregate met
}

// New makes a projector. A source feeds it; its owner calls [Projector.Run].
func New(store Store, journal Journal, options Options, handlers ...Handler) *Projector {
	if options.Notify == nil {
		options.Notify = func([]Head) {}
	}
	if options.Observe == nil {
		options.Observe = func(Outcome) {}
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	options.FillEvents = cmp.Or(options.FillEvents, 500)
	options.RepairWorkers = cmp.Or(options.RepairWorkers, 4)
	options.Attempts = cmp.Or(options.Attempts, 10)
	p := &Projector{
		store: store, journal: journal, handlers: make(map[string]Handler), options: options,
		logger: options.Logger, woken: make(chan struct{}, 1), repairs: make(chan struct{}, 1), unregistered: make(map[string]usecase.Key),
	}
	if p.logger == nil {
		p.logger = slog.New(slog.DiscardHandler)
	}
	for _, handler := range handlers {
		p.handlers[handler.Type()] = handler
	}
	p.woken <- struct{}{}
	return p
}

// Project brings a batch into the rows. Afterwards every aggregate that a record names is at least at the record's
// seq_nr, or parked, or of a type without a handler, and the batch's checkpoint is stored: in the transaction that
// changes the last of the rows.
//
// Usually that is one transaction for all of it. Aggregates with a gap follow in transactions of their own, and so do
// parts of a batch that the database does not take as a whole.
//
// After an error the batch must be handed over again; what has been done by then will be found to be duplicates.
// Errors: [ErrTransient], wrapped, when the store did not take it within the attempts; ctx's error; a fault of the
// store as a whole.
func (p *Projector) Project(ctx context.Context, batch Batch) (outcome Outcome, err error) {
	defer func() { p.options.Observe(outcome) }()
	runs, outcome, unregistered := p.runsOf(batch.Records)
	mark := mark{checkpoint: batch.Checkpoint, unregistered: unregistered}
	done, err := p.applyAll(ctx, runs, mark)
	outcome = outcome.plus(done.outcome)
	if err != nil || len(done.gaps) == 0 {
		return outcome, err
	}
	filled, err := p.fill(ctx, done.gaps, mark)
	return outcome.plus(filled), err
}

const (
	parkedEvery = time.Second     // between two looks for parked aggregates whose time has come
	repairAgain = 5 * time.Second // after a repair that failed
)

// Run does what no batch does, until ctx ends: it tries parked aggregates again and makes the repairs that are due.
func (p *Projector) Run(ctx context.Context) {
	var repairing sync.WaitGroup
	defer repairing.Wait()
	repairing.Go(func() { p.repairWhenDue(ctx) })
	for wait(ctx, parkedEvery) == nil {
		if _, err := p.RetryParked(ctx); err != nil && ctx.Err() == nil {
			p.logger.WarnContext(ctx, "parked aggregates could not be tried again; next try in a moment", "error", err)
		}
	}
}

// ignored tells that a type without a handler is left out on purpose.
func (p *Projector) ignored(name string) bool { return slices.Contains(p.options.Ignore, name) }
