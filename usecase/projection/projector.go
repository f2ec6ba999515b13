package projection

import (
	"context"
	"log/slog"
	"time"
)

// Options are what a [Projector] can be told. The zero value is good.
type Options struct {
	// Notify is called after every commit with the threads that changed and their versions, on the goroutine that
	// projects: it must not block. nil is nobody.
	Notify func(changed []Head)
	// Logger takes what operators should know; nil is nobody.
	Logger *slog.Logger
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// FillEvents is how many events from the journal one transaction takes at most, which bounds the memory that a gap
	// takes, whatever its size; 0 is 500.
	FillEvents int
	// RepairWorkers is how many chunks of threads a repair looks at at once; 0 is 4.
	RepairWorkers int
	// Attempts is how often a transaction is tried while it fails for reasons that pass; 0 is 10, over about 3 s.
	Attempts int
}

const (
	defaultFillEvents    = 500
	defaultRepairWorkers = 4
	defaultAttempts      = 10
)

// Projector brings events into the read model. Its methods may be called concurrently, and any number of projectors
// may work on the same read model.
type Projector struct {
	readModel ReadModel
	journal   Journal
	options   Options
	logger    *slog.Logger
	woken     chan struct{} // holds a token until the parked threads have been made due
}

// New makes a projector. A source feeds it; its owner calls [Projector.RetryParked] about every second.
func New(readModel ReadModel, journal Journal, options Options) *Projector {
	if options.Notify == nil {
		options.Notify = func([]Head) {}
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	options.FillEvents = orElse(options.FillEvents, defaultFillEvents)
	options.RepairWorkers = orElse(options.RepairWorkers, defaultRepairWorkers)
	options.Attempts = orElse(options.Attempts, defaultAttempts)
	logger := options.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	woken := make(chan struct{}, 1)
	woken <- struct{}{}
	return &Projector{readModel: readModel, journal: journal, options: options, logger: logger, woken: woken}
}

// Project brings a batch into the rows. Afterwards every thread that a record names is at least at the record's
// seq_nr, or parked, and the batch's checkpoint is stored: in the transaction that changes the last of the rows.
//
// Usually that is one transaction for all of it. Threads with a gap follow in transactions of their own, and so do parts
// of a batch that the database does not take as a whole.
//
// After an error the batch must be handed over again; what has been done by then will be found to be duplicates.
// Errors: [ErrTransient], wrapped, when the read model did not become ready within the attempts; ctx's error; a fault of
// the read model as a whole.
func (p *Projector) Project(ctx context.Context, batch Batch) (Outcome, error) {
	runs, outcome, unusable := runsOf(batch.Records)
	for _, record := range unusable {
		p.logger.ErrorContext(ctx, "a record of the source names no event of a thread and is left out; if it belongs to one, a repair brings it back",
			"thread", record.Key.ID, "seq_nr", record.SeqNr, "error", record.Err)
	}

	done, err := p.applyAll(ctx, runs, batch.Checkpoint)
	if err != nil {
		return outcome.plus(done.outcome), err
	}
	outcome = outcome.plus(done.outcome)
	if len(done.gaps) == 0 {
		return outcome, nil
	}
	filled, err := p.fill(ctx, done.gaps, batch.Checkpoint)
	return outcome.plus(filled), err
}

func orElse(value, otherwise int) int {
	if value <= 0 {
		return otherwise
	}
	return value
}
