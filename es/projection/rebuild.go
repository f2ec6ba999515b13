package projection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
)

// RebuildOptions configure a [Rebuild]. Zero fields take their defaults.
type RebuildOptions struct {
	// Observe, if set, is called about every second and at each phase. since is when this process started; from is the
	// number of events in the new rows at that time.
	Observe func(state RebuildState, since time.Time, from uint64)
	// Logger receives messages for the operator; nil discards them.
	Logger *slog.Logger
	// Others are the projections that follow the same journal and are not rebuilt. Where they are ahead of it, because
	// the event store was restored to an earlier time, they go on at its end.
	Others []Store
	// Workers is the number of concurrent transactions, at least one for each part of the journal; default 1.
	Workers int
	// FromEmpty allows a rebuild that replaces rows by none because the event store is empty. Only an operator may say
	// so: a store that is lost or wrongly configured is empty, too.
	FromEmpty bool
}

// Rebuild builds new rows of a projection from the journal, beside the live ones, and then switches to them. Queries
// and the live projection continue meanwhile.
//
// The live projection follows the source; the rebuild does not. It reads the journal, then catches up with the live
// positions; the last round runs while writers are locked out. So the source's checkpoints are valid for the new rows,
// too.
type Rebuild struct {
	sets     RowSets
	live     Store
	journal  WholeJournal
	handlers []Handler
	options  RebuildOptions
}

// NewRebuild returns a rebuild. live is the projection's store, whose row sets are sets.
func NewRebuild(sets RowSets, live Store, journal WholeJournal, options RebuildOptions, handlers ...Handler) *Rebuild {
	if options.Observe == nil {
		options.Observe = func(RebuildState, time.Time, uint64) {}
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	options.Workers = cmp.Or(options.Workers, 1)
	return &Rebuild{sets, live, journal, handlers, options}
}

// Reasons why a rebuild does not start or continue. Compare with [errors.Is].
var (
	ErrRebuilding   = errors.New("another rebuild is running")
	ErrUnfinished   = errors.New("there is a rebuild that was interrupted")
	ErrNothingBegun = errors.New("there is no rebuild to go on with")
	ErrCancelled    = errors.New("the rebuild was cancelled")
	ErrLockLost     = errors.New("the lock on rebuilds is lost, and another process may have continued the rebuild")
	ErrEmptyJournal = errors.New("the event store is empty, but there are rows: restore it, or correct its settings; " +
		"only if all events are gone for good, `rows rebuild --from-empty` replaces the rows by none")
)

// Start starts a rebuild and runs it to the end.
func (r *Rebuild) Start(ctx context.Context) error {
	return r.locked(ctx, func(ctx context.Context) error {
		state, err := r.sets.State(ctx)
		if err != nil {
			return err
		}
		if !state.Over() {
			return ErrUnfinished
		}
		return r.begin(ctx)
	})
}

// Resume finishes an interrupted rebuild. A rebuild for other versions of the handlers starts over.
func (r *Rebuild) Resume(ctx context.Context) error {
	return r.locked(ctx, func(ctx context.Context) error {
		state, err := r.sets.State(ctx)
		switch {
		case err != nil:
			return err
		case state.Over():
			return ErrNothingBegun
		case !state.Live && state.Handlers != versionsOf(r.handlers):
			return r.begin(ctx)
		case !state.Live:
			if err := r.checkJournal(ctx); err != nil {
				return err
			}
			if err := r.sets.Prepare(ctx); err != nil {
				return err
			}
		}
		return r.run(ctx)
	})
}

// Cancel ends a running or interrupted rebuild and drops its rows. It fails if its rows are live already.
func (r *Rebuild) Cancel(ctx context.Context) error {
	state, err := r.sets.State(ctx)
	if err != nil {
		return err
	}
	if state.Over() {
		return ErrNothingBegun
	}
	if err := r.sets.Cancel(ctx); err != nil {
		return err
	}
	err = r.locked(ctx, func(ctx context.Context) error {
		state, err := r.sets.State(ctx)
		if err != nil || state.Over() {
			return err
		}
		return r.drop(ctx, state)
	})
	if errors.Is(err, ErrRebuilding) {
		return nil // the running rebuild sees the request and ends
	}
	return err
}

func (r *Rebuild) drop(ctx context.Context, state RebuildState) error {
	if state.Live {
		return errors.New("the new rows are live already: go on with --resume, which takes moments")
	}
	if err := r.sets.Drop(ctx); err != nil {
		return err
	}
	state.Phase, state.UpdatedAt = Cancelled, time.Now()
	_, err := r.sets.Save(ctx, state)
	return err
}

func (r *Rebuild) locked(ctx context.Context, work func(ctx context.Context) error) error {
	held, release, err := r.sets.Lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	return work(held)
}

// begin drops what is left of an earlier rebuild. It refuses to make a set without a type that the live one has: the
// program that knows the type would find its rows without positions.
func (r *Rebuild) begin(ctx context.Context) error {
	types, err := r.sets.Types(ctx)
	if err != nil {
		return err
	}
	for _, name := range types {
		if !slices.ContainsFunc(r.handlers, func(h Handler) bool { return h.Type() == name }) {
			return fmt.Errorf("there are rows of the aggregate type %q, which this program does not know: rebuild with a program that does", name)
		}
	}
	if err := r.checkJournal(ctx); err != nil {
		return err
	}
	if err := r.sets.Begin(ctx, versionsOf(r.handlers), time.Now()); err != nil {
		return err
	}
	return r.run(ctx)
}

// checkJournal returns [ErrEmptyJournal] if the rebuild would replace rows by none.
func (r *Rebuild) checkJournal(ctx context.Context) error {
	types, err := r.sets.Types(ctx)
	if err != nil || len(types) == 0 || r.options.FromEmpty {
		return err
	}
	for _, name := range types {
		for _, err := range r.journal.Heads(ctx, name) {
			return err // there is one, or it is unknown
		}
	}
	return ErrEmptyJournal
}

// run continues the rebuild: each step finds out what it still has to do.
func (r *Rebuild) run(ctx context.Context) error {
	state, err := r.sets.State(ctx)
	if err == nil && !state.Live {
		state.Done, err = r.done(ctx) // a kill may have come after the last stored progress
	}
	if err != nil {
		return err
	}
	running, stop := context.WithCancelCause(ctx)
	work := &rebuilding{Rebuild: r, state: state, since: time.Now(), from: state.Done, stop: stop}
	work.state.Failure = ""
	var telling sync.WaitGroup
	telling.Go(func() { work.tell(running) })
	err = work.work(running)
	cancelled := errors.Is(context.Cause(running), ErrCancelled)
	stop(nil)
	telling.Wait()
	if lost := context.Cause(ctx); errors.Is(lost, ErrLockLost) {
		return errors.Join(lost, err) // another process may have the rebuild by now: nothing may be stored
	}
	last := context.WithoutCancel(ctx)
	switch {
	case cancelled && err != nil:
		return errors.Join(ErrCancelled, r.drop(last, work.now()))
	case err != nil && ctx.Err() == nil: // a stop of the program is no failure
		work.mu.Lock()
		work.state.Failure = err.Error()
		work.mu.Unlock()
	}
	return errors.Join(err, work.save(last))
}

func (r *Rebuild) done(ctx context.Context) (uint64, error) {
	next, err := r.sets.Next(ctx)
	if err != nil {
		return 0, err
	}
	return next.Events(ctx)
}

// rebuilding is a rebuild in progress.
type rebuilding struct {
	*Rebuild
	since time.Time
	from  uint64
	stop  context.CancelCauseFunc

	done  atomic.Uint64 // events of this process
	mu    sync.Mutex
	state RebuildState
}

// tellEvery is the interval of storing the progress.
const tellEvery = time.Second

func (w *rebuilding) tell(ctx context.Context) {
	for es.Wait(ctx, tellEvery) == nil {
		if err := w.save(ctx); err != nil && ctx.Err() == nil {
			w.options.Logger.WarnContext(ctx, "storing the progress of the rebuild failed", "error", err)
		}
	}
}

func (w *rebuilding) now() RebuildState {
	w.mu.Lock()
	defer w.mu.Unlock()
	state := w.state
	state.Done = w.from + w.done.Load()
	state.Total = max(state.Total, state.Done)
	state.UpdatedAt = time.Now()
	return state
}

func (w *rebuilding) save(ctx context.Context) error {
	state := w.now()
	w.options.Observe(state, w.since, w.from)
	cancelled, err := w.sets.Save(ctx, state)
	if before := []Phase{Reading, catchingUp, verifying}; cancelled && slices.Contains(before, state.Phase) {
		w.stop(ErrCancelled)
	}
	return err
}

func (w *rebuilding) enter(ctx context.Context, phase Phase) error {
	w.mu.Lock()
	w.state.Phase = phase
	if phase == Done {
		w.state.Total = 0 // it was an estimate
	}
	w.mu.Unlock()
	w.options.Logger.InfoContext(ctx, "rebuilding the rows: "+string(phase), "events", w.now().Done)
	if err := w.save(ctx); err != nil {
		return err
	}
	return context.Cause(ctx)
}

func (w *rebuilding) work(ctx context.Context) error {
	if !w.state.Live {
		if err := w.make(ctx); err != nil {
			return err
		}
	}
	if err := w.enter(ctx, settling); err != nil {
		return err
	}
	// If the live rows were ahead of the journal, the source may have skipped events as known that are missing from the
	// new rows.
	live := New(w.live, w.journal, w.projecting(), w.handlers...)
	if _, err := live.Repair(ctx); err != nil {
		return err
	}
	for _, other := range w.options.Others {
		if err := live.retract(ctx, other); err != nil {
			return err
		}
	}
	return w.enter(ctx, Done)
}

func (w *rebuilding) projecting() Options {
	return Options{Logger: w.options.Logger, Observe: func(o Outcome) { w.done.Add(uint64(o.Applied + o.Filled)) }}
}

// make builds the new rows and switches to them.
func (w *rebuilding) make(ctx context.Context) error {
	next, err := w.sets.Next(ctx)
	if err != nil {
		return err
	}
	projecting := w.projecting()
	if projecting.Skipped, err = next.Skips(ctx); err != nil {
		return err
	}
	projector := New(next, w.journal, projecting, w.handlers...)
	if err := w.enter(ctx, Reading); err != nil {
		return err
	}
	if err := w.read(ctx, next, projector); err != nil {
		return err
	}
	if err := w.sets.Index(ctx); err != nil {
		return err
	}
	// Events written during the read may be in no page: compare every head.
	if _, err := projector.Repair(ctx); err != nil {
		return err
	}
	if err := w.enter(ctx, catchingUp); err != nil {
		return err
	}
	level := leveller{ahead: make(map[es.AggregateID][2]uint64)}
	for range levelRounds {
		filled, _, err := level.bring(ctx, next, projector)
		if err != nil {
			return err
		}
		if filled < enoughLevel {
			break
		}
	}
	if err := w.enter(ctx, verifying); err != nil {
		return err
	}
	if err := w.verify(ctx, next, projector); err != nil {
		return err
	}
	if err := w.enter(ctx, switching); err != nil {
		return err
	}
	return w.sets.Switch(ctx, func(ctx context.Context, next Making) error {
		_, left, err := level.bring(ctx, next, New(next, w.journal, projecting, w.handlers...))
		if err == nil {
			err = noneParked(ctx, next)
		}
		if err == nil && left.Version > 0 {
			err = fmt.Errorf("not switched: the new rows lack events up to %d of %s, which the live ones have; mend what `journal check` finds, "+
				"or use a program that knows the type, and continue with --resume", left.Version, left.Key)
		}
		return err
	})
}

// noneParked returns an error if an aggregate is parked in the new rows and not in the live ones.
func noneParked(ctx context.Context, next Making) error {
	parked, found, err := next.NewlyParked(ctx)
	if err != nil || !found {
		return err
	}
	return fmt.Errorf("not switched: the new rows of %s stop at event %d, and the live ones do not: %s; mend what `journal check` finds, or the "+
		"handler, and continue with --resume, or give up with --cancel", parked.Key, parked.SeqNr, parked.Reason)
}

// read applies the journal to the new rows, all parts concurrently.
func (w *rebuilding) read(ctx context.Context, next Making, projector *Projector) error {
	parts := w.journal.Parts()
	shards, afters := make([]string, parts), make([]string, parts)
	for part := range parts {
		shards[part] = fmt.Sprintf("%d/%d", part+1, parts)
		var err error
		if afters[part], err = next.Checkpoint(ctx, shards[part]); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for part := range parts {
		shard, after := shards[part], afters[part]
		// A page is read and decoded while the one before it is applied.
		batches := make(chan []decodedBatch)
		group.Go(func() error {
			defer close(batches)
			for page, err := range w.journal.Read(ctx, part, parts, after) {
				if err != nil {
					return fmt.Errorf("read part %s of the journal: %w", shard, err)
				}
				select {
				case batches <- w.decode(projector, shard, page):
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
			return nil
		})
		group.Go(func() error {
			for shares := range batches {
				if err := w.project(ctx, projector, shares); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// decode decodes a page into shares that can be applied concurrently, and its checkpoint, which is stored last.
func (w *rebuilding) decode(projector *Projector, shard string, page Page) []decodedBatch {
	shares := make([]Batch, max(1, w.options.Workers/w.journal.Parts()))
	for i := range shares {
		shares[i].Records = make([]Record, 0, len(page.Records)/len(shares))
	}
	for _, record := range page.Records {
		if _, registered := projector.handlers[record.Key.Type]; registered {
			share := &shares[shareOf(record.Key, len(shares))]
			share.Records = append(share.Records, record)
		}
	}
	if len(shares) > 1 {
		shares = append(shares, Batch{})
	}
	shares[len(shares)-1].Checkpoint = Checkpoint{Source: RebuildSource, Shard: shard, Position: page.Next}
	decoded := make([]decodedBatch, len(shares))
	var group sync.WaitGroup
	for i, share := range shares {
		group.Go(func() { decoded[i] = projector.decodeAll(share) })
	}
	group.Wait()
	return decoded
}

// project applies the shares of a page to the new rows and stores the checkpoint with the last one.
func (w *rebuilding) project(ctx context.Context, projector *Projector, shares []decodedBatch) error {
	last := len(shares) - 1
	group, groupCtx := errgroup.WithContext(ctx)
	for _, share := range shares[:last] {
		group.Go(func() error {
			_, err := projector.project(groupCtx, share)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	_, err := projector.project(ctx, shares[last])
	return err
}

// shareOf assigns all events of an aggregate to the same worker.
func shareOf(key es.AggregateID, shares int) int {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(key.ID)) // never fails
	return int(hash.Sum32() % uint32(shares))
}

// Before the switch, all new rows of some aggregates are compared with the journal: of this number, or of fewer if they
// have this many events. The versions of all aggregates are always compared.
const (
	sampleAggregates = 100
	sampleEvents     = 5000
)

// verify compares a sample of the new rows with the journal, and checks that the new handlers can apply every event
// that the live ones could.
func (w *rebuilding) verify(ctx context.Context, next Making, projector *Projector) error {
	// Reads that failed earlier may succeed now.
	if _, err := projector.RetryParked(ctx); err != nil {
		return err
	}
	if err := noneParked(ctx, next); err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(verifyWorkers)
	for head, err := range w.sample(groupCtx) {
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		group.Go(func() error { return compare(groupCtx, projector, head.Key) })
	}
	return group.Wait()
}

// sample yields the first aggregates whose rows can be compared.
func (w *rebuilding) sample(ctx context.Context) iter.Seq2[Head, error] {
	return func(yield func(Head, error) bool) {
		aggregates, events := 0, uint64(0)
		for _, handler := range w.handlers {
			if _, able := handler.(Verifiable); !able {
				continue
			}
			for head, err := range w.journal.Heads(ctx, handler.Type()) {
				if err != nil {
					yield(head, fmt.Errorf("list the aggregates of type %s: %w", handler.Type(), err))
					return
				}
				if !yield(head, nil) {
					return
				}
				aggregates, events = aggregates+1, events+head.Version
				if aggregates == sampleAggregates || events >= sampleEvents {
					return
				}
			}
		}
	}
}

func compare(ctx context.Context, projector *Projector, key es.AggregateID) error {
	found, err := projector.Verify(ctx, key)
	if err != nil || len(found.Differences) == 0 {
		return err
	}
	d := found.Differences[0]
	todo := "end the rebuild with --cancel, and run `journal check`"
	if found.Contradicted {
		todo = "mend what `journal check` finds, and continue with --resume"
	}
	return fmt.Errorf("not switched: the new rows differ from the journal: %s, %s: %s: expected %s, found %s; %s",
		d.Key, d.Row, d.What, d.Expected, d.Found, todo)
}
