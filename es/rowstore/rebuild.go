package rowstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
	"example.com/threads/es/projection"
)

// Rebuild builds new rows of a projection from the journal, beside the live ones, and then switches to them. Queries
// and the live projection continue meanwhile. Projections in one database are rebuilt one after the other; in a SQLite
// file one that begins ends the other, which is tried again.
//
// A rebuild does not follow the source: it reads the journal, then catches up with the live positions; the last round
// runs while writers are locked out. So the source's checkpoints are valid for the new rows, too.
//
// Where other projections in the database are ahead of the journal, because it was restored to an earlier time, they go
// on at its end.
type Rebuild struct {
	Store    *Store   // of the projection
	Tables   []string // of the application, in which the handlers keep the rows
	Journal  es.Journal
	Handlers []projection.Handler
	Tenants  func(es.Tenant) bool // see [projection.Options]
	// FromEmpty allows a rebuild that replaces rows by none because the event store is empty. Only an operator may say
	// so: a store that is lost or wrongly configured is empty, too.
	FromEmpty bool
	// Observe, if set, is called about every second and at each phase.
	Observe func(RebuildState)
	// Logger receives messages for the operator. Default: slog.Default().
	Logger *slog.Logger
}

// RebuildState is the progress of a rebuild.
type RebuildState struct {
	Projection string    `json:"-" db:"projection"`
	Generation uint64    `json:"-" db:"generation"`              // the number of the rebuild
	Set        string    `json:"-" db:"set_name"`                // name of the new rows; "": there was no rebuild
	Handlers   string    `json:"-" db:"handlers"`                // the versions of its handlers
	Phase      string    `json:"phase" db:"phase"`               // "done" or "cancelled" when it is over
	Done       uint64    `json:"events" db:"events_done"`        // events in the new rows
	Total      uint64    `json:"events_total" db:"events_total"` // expected number of events, an estimate at first
	Cancelled  bool      `json:"-" db:"cancelled"`               // its end was requested
	Failure    string    `json:"failure,omitempty" db:"failure"` // why it stopped last time; "": it did not
	StartedAt  time.Time `json:"-" db:"started_at"`
	UpdatedAt  time.Time `json:"-" db:"updated_at"`
	Live       bool      `json:"-"` // its set is live

	// Of an unfinished rebuild:
	SecondsLeft float64 `json:"seconds_left"` // by its speed so far; 0: unknown
	Interrupted bool    `json:"interrupted"`  // it has not gone on for a while
}

// The phases, in order.
const (
	phaseReading    = "reading"     // the whole journal
	phaseCatchingUp = "catching up" // with the live rows
	phaseVerifying  = "verifying"   // the new rows against the journal
	phaseSwitching  = "switching"   // the new rows become the live ones
	phaseSettling   = "settling"    // compares the live rows with the journal once more
	phaseCancelled  = "cancelled"
	phaseDone       = "done"
)

// Over reports that nothing is left to do.
func (s RebuildState) Over() bool {
	return s.Phase == "" || s.Phase == phaseDone || s.Phase == phaseCancelled
}

// DoneAt returns when all was done; zero: it is not, or was cancelled.
func (s RebuildState) DoneAt() time.Time {
	if s.Phase != phaseDone {
		return time.Time{}
	}
	return s.UpdatedAt
}

// Reasons why a rebuild does not start or continue. Compare with [errors.Is].
var (
	ErrRebuilding   = errors.New("another rebuild is running")
	ErrUnfinished   = errors.New("there is a rebuild that was interrupted")
	ErrNothingBegun = errors.New("there is no rebuild to go on with")
	ErrCancelled    = errors.New("the rebuild was cancelled")
	errLive         = errors.New("the new rows are live already: go on with --resume, which takes moments")

	ErrEmptyJournal error = public("the event store is empty, or not that of the rows: it does not have the oldest of them; restore it, or correct its settings")
)

// Start starts a rebuild and runs it to the end.
func (r *Rebuild) Start(ctx context.Context) error { return r.locked(ctx, true, r.begin) }

// Resume finishes an interrupted rebuild. A rebuild for other versions of the handlers starts over.
func (r *Rebuild) Resume(ctx context.Context) error {
	return r.locked(ctx, false, func(ctx context.Context, state RebuildState) error {
		switch {
		case !state.Live && state.Handlers != strings.Join(versionsOf(r.Handlers), ","):
			return r.begin(ctx, state)
		case !state.Live:
			if err := r.check(ctx); err != nil {
				return err
			}
		}
		return r.run(ctx, state)
	})
}

// Cancel ends a running or interrupted rebuild and drops its rows. It fails if its rows are live already.
func (r *Rebuild) Cancel(ctx context.Context) error {
	asked, err := sqldialect.Changed(ctx, r.Store.db, "UPDATE projection_rebuilds SET cancelled = 1 "+
		"WHERE projection = ? AND phase NOT IN ('done', 'cancelled')", r.Store.projection)
	if err != nil || asked == 0 {
		return cmp.Or(r.Store.Explain("ask for the end of the rebuild", err), ErrNothingBegun)
	}
	err = r.locked(ctx, false, r.abandon)
	if errors.Is(err, ErrRebuilding) { // it sees the request, unless it is too late
		state, failed := r.Store.RebuildState(ctx)
		if err = failed; err == nil && (state.Live || state.Phase == phaseSwitching) {
			err = errLive
		}
	}
	if errors.Is(err, ErrNothingBegun) {
		return nil // it has ended
	}
	return err
}

// DropOld drops the rows that were live before the last rebuild.
func (r *Rebuild) DropOld(ctx context.Context) error {
	return r.locked(ctx, true, func(ctx context.Context, _ RebuildState) error { return r.drop(ctx) })
}

// locked does work while no other rebuild runs, if the last one is over, or if it is not.
func (r *Rebuild) locked(ctx context.Context, over bool, work func(context.Context, RebuildState) error) error {
	held, release, err := r.Store.lockRebuilds(ctx)
	if err != nil {
		return err
	}
	defer release()
	state, err := r.Store.RebuildState(held)
	switch {
	case err != nil:
		return err
	case over && !state.Over():
		return ErrUnfinished
	case !over && state.Over():
		return ErrNothingBegun
	}
	return work(held, state)
}

// abandon ends a rebuild and drops its rows.
func (r *Rebuild) abandon(ctx context.Context, state RebuildState) error {
	if state.Live {
		return errLive
	}
	if err := r.drop(ctx); err != nil {
		return err
	}
	if now, err := r.Store.RebuildState(ctx); err != nil || now.Live { // on a file, the drop has waited for the switch
		return cmp.Or(err, errLive)
	}
	state.Phase, state.UpdatedAt = phaseCancelled, time.Now()
	_, err := r.Store.saveRebuild(ctx, state)
	return err
}

// begin drops what is left of an earlier rebuild and runs another one.
func (r *Rebuild) begin(ctx context.Context, before RebuildState) error {
	if err := r.check(ctx); err != nil {
		return err
	}
	if err := r.drop(ctx); err != nil {
		return err
	}
	state, err := r.Store.beginRebuild(ctx, before, strings.Join(versionsOf(r.Handlers), ","))
	if err != nil {
		return err
	}
	return r.run(ctx, state)
}

// check refuses to replace rows by none, or by those of another event store: it looks for the oldest aggregates with
// rows. It also refuses to make a set without a type that the live one has: the program that knows the type would find
// its rows without positions.
func (r *Rebuild) check(ctx context.Context) error {
	var types []string
	err := r.Store.db.SelectContext(ctx, &types,
		"SELECT DISTINCT aggregate_type FROM projection_positions WHERE "+ofSet, r.Store.set()...)
	if err != nil {
		return r.Store.Explain("read which aggregate types have rows", err)
	}
	empty, lost := true, false // no type has its oldest aggregate; one lacks it
	for _, name := range types {
		if !slices.ContainsFunc(r.Handlers, func(h projection.Handler) bool { return h.Type() == name }) {
			return fmt.Errorf("there are rows of the aggregate type %q, which this program does not know: rebuild with a program that does", name)
		}
		var oldest projection.AtVersion
		err := positions.Select(ctx, r.Store.db, func(row positionRow) { oldest = row.AtVersion },
			"WHERE "+ofSet+" AND aggregate_type = ? AND version > 0 ORDER BY aggregate_id LIMIT 1", append(r.Store.set(), name)...)
		if err != nil {
			return r.Store.Explain("look for the oldest rows", err)
		}
		if oldest.Version == 0 { // an aggregate that a record alone has named
			continue
		}
		head, err := r.Journal.Head(ctx, oldest.Key)
		_, unreadable := errors.AsType[*es.InconsistentError](err)
		if err != nil && !unreadable {
			return err
		}
		isLost := !unreadable && head.Version == 0
		empty, lost = empty && isLost, lost || isLost
	}
	if empty && lost && !r.FromEmpty {
		return ErrEmptyJournal
	}
	return nil
}

// run continues the rebuild: each phase finds out what it still has to do.
func (r *Rebuild) run(ctx context.Context, state RebuildState) error {
	work := &rebuilding{Rebuild: r, set: r.Store.making(state.Set), state: state, lost: make(map[es.AggregateID]uint64)}
	work.state.Failure = ""
	if !state.Live {
		err := r.makeTables(ctx, state)
		if err != nil {
			return err
		}
		if work.skipped, err = r.Store.Skipped(ctx); err != nil {
			return err
		}
		// A kill may have come after the last stored progress.
		if work.state.Done, err = work.set.events(ctx); err != nil {
			return err
		}
	}
	running, stop := context.WithCancelCause(ctx)
	work.stop = stop
	var telling sync.WaitGroup
	telling.Go(func() {
		for es.Wait(running, tellEvery) == nil {
			if err := work.save(running); err != nil && running.Err() == nil {
				work.log().WarnContext(running, "storing the progress of the rebuild failed", "error", err)
			}
		}
	})
	err := work.phases(running)
	cancelled := errors.Is(context.Cause(running), ErrCancelled)
	stop(nil)
	telling.Wait()
	last := context.WithoutCancel(ctx)
	var now RebuildState // the switch may just have been made, or another process may have dropped the rows on request
	var failed error
	if err != nil {
		now, failed = r.Store.RebuildState(last)
		cancelled = cancelled || failed == nil && now.Set == work.state.Set && now.Cancelled
	}
	switch {
	case errors.Is(context.Cause(ctx), projection.ErrTermOver): // another process may have the rebuild: store nothing
		return errors.Join(context.Cause(ctx), err)
	case err != nil && cancelled:
		if failed == nil {
			failed = r.abandon(last, now)
		}
		return errors.Join(ErrCancelled, failed)
	case err != nil && ctx.Err() == nil: // a stop of the program is no failure
		work.state.Failure = err.Error()
	}
	return errors.Join(err, work.save(last))
}

func (r *Rebuild) log() *slog.Logger { return cmp.Or(r.Logger, slog.Default()) }

// tellEvery is the interval of storing the progress.
const tellEvery = time.Second

// rebuilding is a rebuild in progress.
type rebuilding struct {
	*Rebuild
	set     *Store // of the new rows
	skipped map[projection.AtVersion]string
	lost    map[es.AggregateID]uint64 // the live versions of aggregates that are ahead of the journal
	stop    context.CancelCauseFunc

	mu    sync.Mutex
	state RebuildState
}

// save stores the progress, and ends the rebuild if that was requested before the switch.
func (w *rebuilding) save(ctx context.Context) error {
	w.mu.Lock()
	w.state.Total, w.state.UpdatedAt = max(w.state.Total, w.state.Done), time.Now()
	state := w.state
	w.mu.Unlock()
	if w.Observe != nil {
		w.Observe(state)
	}
	cancelled, err := w.Store.saveRebuild(ctx, state)
	w.mu.Lock()
	defer w.mu.Unlock() // the phase may have changed meanwhile
	if cancelled && slices.Contains([]string{phaseReading, phaseCatchingUp, phaseVerifying}, w.state.Phase) {
		w.stop(ErrCancelled)
	}
	return err
}

// phases runs the phases that are left.
func (w *rebuilding) phases(ctx context.Context) error {
	for _, phase := range []struct {
		name   string
		making bool // the new rows, before they are live
		do     func(context.Context) error
	}{
		{phaseReading, true, w.read},
		{phaseCatchingUp, true, w.catchUp},
		{phaseVerifying, true, w.verify},
		{phaseSwitching, true, w.switchOver},
		{phaseSettling, false, w.settle},
		{phaseDone, false, func(context.Context) error { return nil }},
	} {
		if phase.making && w.state.Live {
			continue
		}
		w.mu.Lock()
		w.state.Phase = phase.name
		if phase.name == phaseDone {
			w.state.Total = 0 // it was an estimate
		}
		done := w.state.Done
		w.mu.Unlock()
		w.log().InfoContext(ctx, "rebuilding the rows: "+phase.name, "events", done)
		err := cmp.Or(w.save(ctx), context.Cause(ctx))
		if err == nil {
			err = phase.do(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// projector returns a projector that counts its events.
func (w *rebuilding) projector(store *Store) *projection.Projector {
	count := func(o projection.Outcome, _ int, _ time.Duration) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.state.Done += uint64(o.Applied + o.Filled)
	}
	return projection.New(store, w.Journal, projection.Options{Tenants: w.Tenants, Logger: w.Logger, Skipped: w.skipped, Observe: count}, w.Handlers...)
}

func (w *rebuilding) read(ctx context.Context) error {
	workers := 1 // a file takes one transaction at a time
	if w.Store.server() {
		workers = 4
	}
	if err := w.projector(w.set).ProjectAll(ctx, w.Journal, w.set, workers); err != nil {
		return err
	}
	return w.makeIndexes(ctx)
}

const (
	// enoughLevel is how many events the last round before the switch may apply; the switch has to apply as many.
	enoughLevel = 100
	levelRounds = 50
)

func (w *rebuilding) catchUp(ctx context.Context) error {
	for range levelRounds {
		if filled, _, err := w.level(ctx, w.set); err != nil || filled < enoughLevel {
			return err
		}
	}
	return nil
}

// level applies the events that the new set lacks and the live one has. It returns their number, and the live position
// of an aggregate that could not be brought level; zero: there is none.
func (w *rebuilding) level(ctx context.Context, set *Store) (filled int, left projection.AtVersion, err error) {
	projector := w.projector(set)
	for page, err := range set.ahead(ctx, set.projection) {
		if err != nil {
			return filled, left, err
		}
		page = slices.DeleteFunc(page, func(live positionRow) bool { return w.lost[live.Key] == live.Version })
		keys := make([]es.AggregateID, len(page))
		for i, live := range page {
			keys[i] = live.Key
		}
		n, err := projector.Fill(ctx, keys...)
		w.mu.Lock()
		w.state.Done += uint64(n)
		w.mu.Unlock()
		if filled += n; err != nil {
			return filled, left, err
		}
		versions, err := set.Versions(ctx, keys)
		if err != nil {
			return filled, left, err
		}
		for _, live := range page {
			if versions[live.Key] >= live.Version {
				continue
			}
			switch lost, err := projector.Ahead(ctx, live.AtVersion); {
			case err != nil && es.KindOf(err) != es.Inconsistent:
				return filled, left, err
			case err == nil && lost:
				w.lost[live.Key] = live.Version
			default: // the head is wrong, an event can't be applied here, or only another program knows the type
				left = live.AtVersion
			}
		}
	}
	return filled, left, nil
}

// Before the switch, all new rows of some aggregates are compared with the journal: of this number, or of fewer if they
// have this many events. The versions of all aggregates are always compared.
const (
	sampleAggregates = 100
	sampleEvents     = 5000
)

// verify compares a sample of the new rows with the journal, and that they have every event that the live ones have.
func (w *rebuilding) verify(ctx context.Context) error {
	projector := w.projector(w.set)
	// Reads that failed earlier may succeed now.
	if _, err := projector.RetryParked(ctx); err != nil {
		return err
	}
	if err := w.set.noneParked(ctx); err != nil {
		return err
	}
	aggregates, events := 0, uint64(0)
	for _, handler := range w.Handlers {
		if _, able := handler.(projection.Verifiable); !able {
			continue
		}
		for head, err := range w.Journal.Heads(ctx, handler.Type()) {
			if err != nil {
				return fmt.Errorf("list the aggregates of type %s: %w", handler.Type(), err)
			}
			if w.Tenants != nil && !w.Tenants(head.ID.Tenant) {
				continue
			}
			if err := compare(ctx, projector, head.ID); err != nil {
				return err
			}
			if aggregates, events = aggregates+1, events+head.Version; aggregates == sampleAggregates || events >= sampleEvents {
				return nil
			}
		}
	}
	return nil
}

func compare(ctx context.Context, projector *projection.Projector, key es.AggregateID) error {
	found, err := projector.Verify(ctx, key)
	if err != nil || len(found.Differences) == 0 {
		return err
	}
	d := found.Differences[0]
	todo := "cancel the rebuild, and check the journal"
	if found.Contradicted {
		todo = "mend what a journal check finds, and resume the rebuild"
	}
	return fmt.Errorf("not switched: the new rows differ from the journal: %s, %s: %s: expected %s, found %s; %s",
		d.Key, d.Row, d.What, d.Expected, d.Found, todo)
}

// switchOver makes the new set the live one, once it is level.
func (w *rebuilding) switchOver(ctx context.Context) error {
	return w.switchTo(ctx, w.state.Set, func(ctx context.Context, set *Store) error {
		_, left, err := w.level(ctx, set)
		if err == nil {
			err = set.noneParked(ctx)
		}
		if err == nil && left.Version > 0 {
			err = fmt.Errorf("not switched: the new rows lack events up to %d of %s, which the live ones have; mend what a journal check finds, "+
				"or use a program that knows the type, and resume the rebuild", left.Version, left.Key)
		}
		return err
	})
}

// settle compares the live rows with the journal: if the live rows before were ahead of it, the source may have skipped
// events as known that are missing from the new rows.
func (w *rebuilding) settle(ctx context.Context) error {
	w.skipped = nil
	live := w.projector(w.Store)
	if _, err := live.Repair(ctx); err != nil {
		return err
	}
	others, err := w.Store.others(ctx)
	if err != nil {
		return err
	}
	for _, name := range others {
		other, retracted := *w.Store, 0
		other.projection = name
		for page, err := range w.Store.ahead(ctx, name) {
			if err != nil {
				return err
			}
			for _, position := range page {
				done, err := live.Retract(ctx, &other, position.AtVersion)
				if err != nil {
					return err
				}
				if done {
					retracted++
				}
			}
		}
		if retracted > 0 {
			w.log().WarnContext(ctx, "another projection was ahead of the journal, and continues at its end",
				"projection", name, "aggregates", retracted)
		}
	}
	return nil
}
