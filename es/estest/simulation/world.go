package simulation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

// A fault happens to the I/O with this number.
type fault struct {
	At   int
	Kind string
}

// The kinds of faults.
const (
	refuse       = "refuse"       // the I/O fails and does nothing
	lose         = "lose"         // it is done, and the answer is lost
	crash        = "crash"        // the process dies before it
	crashAfter   = "crash-after"  // the process dies after it, and before the answer
	conflict     = "conflict"     // an append meets a conflict
	pause        = "pause"        // the process stops for longer than any lease; another one starts meanwhile
	clock        = "clock"        // the clock of the process jumps
	trim         = "trim"         // the stream forgets what is in it
	split        = "split"        // the shards of the stream close, and others follow them
	again        = "again"        // the stream's next records come once more
	shuffle      = "shuffle"      // they come in another order
	garble       = "garble"       // one of them can't be read
	late         = "late"         // the next event reaches the stream after others
	inapplicable = "inapplicable" // for some time, no event can be applied to the rows
	outage       = "outage"       // for some time, every I/O of this process fails
	cut          = "cut"          // for some time, every I/O of this process with this party fails
	full         = "full"         // for some time, this party has no space: whatever writes there fails
	belated      = "belated"      // an append fails, and is done some time after that
	throttle     = "throttle"     // for some time, every second I/O of anybody with this party is refused
	unheard      = "unheard"      // a client's command is done, and the client does not get the answer
)

var kinds = []string{
	refuse, lose, crash, crashAfter, conflict, pause, clock, trim, split, again, shuffle, garble, late, inapplicable, outage, cut, full, belated,
	throttle, unheard,
}

const (
	// tick is by how much time goes on at once. Every decision is made at a multiple of it. It is longer than the
	// random part of any pause in the library, and no limit of time ends near a multiple of it: so that part changes
	// nothing.
	tick = 1900 * time.Millisecond
	// coarseBy is by how much faster the clock of the projectors is: a tick is longer than any pause that they store.
	coarseBy         = 300
	pauseLast        = 150 // steps
	inapplicableLast = 120
	outageLast       = 60 // also of cut, full and throttle
)

// Party is whom a process asks in an I/O.
type Party struct {
	Name   string
	Failed error // of an I/O that fails, or whose answer is lost
}

var (
	journal  = Party{"journal", es.ErrUnavailable}
	ofStream = Party{"stream", es.ErrUnavailable}
	table    = Party{"rows", projection.ErrTransient}
	turn     = Party{"rows", es.ErrUnavailable}
	target   = Party{"service", es.ErrUnavailable}
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// world runs one step at a time. Every I/O of a process waits in step. When all goroutines are blocked, advance lets
// one of them go on. The seed selects which one, from a list in the order of their names.
type world struct {
	db     *sqlx.DB // of the rows; it has one connection
	random *rand.Rand
	faults map[int]string

	mutex        sync.Mutex
	waiting      []*waiter
	ios          int // I/Os that a fault could meet
	steps        int
	ticks        int
	story        []string
	failure      string
	calm         bool           // no more faults
	inapplicable int            // until this step
	full         map[string]int // until this step, by party
	throttled    map[string]int // the same
	later        []func()       // what is done after it failed
	changing     int            // transactions of projectors
	missing      string         // why the world goes on
	changed      func(rows)     // called after each commit
	start        func(kind string, life int)
	live         map[string]*Process // by kind
	stream       *stream
	consumer     Consumer // nil: none
}

// free reports whether no transaction has the rows.
func (w *world) free() bool { return w.db.Stats().InUse == 0 }

// Process is one life of a process.
type Process struct {
	w       *world
	kind    string
	life    int
	ctx     context.Context
	die     func()
	dead    bool
	until   int            // paused until this step
	without int            // every I/O fails until this step
	cut     map[string]int // the same, by party
	skew    time.Duration
}

type waiter struct {
	p     *Process
	of    string // party
	name  string
	ready func() bool
	next  chan string // the kind of the fault, or ""
}

var errDead = fmt.Errorf("the process is dead: %w", context.Canceled)

func (w *world) newProc(kind string, life int) *Process {
	p := &Process{w: w, kind: kind, life: life, cut: map[string]int{}}
	p.ctx, p.die = context.WithCancel(context.Background())
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.live[kind] = p
	return p
}

func (p *Process) String() string { return fmt.Sprintf("%s.%d", p.kind, p.life) }

func (p *Process) now() time.Time {
	past := p.w.elapsed()
	p.w.mutex.Lock()
	defer p.w.mutex.Unlock()
	return epoch.Add(past + p.skew)
}

func (w *world) elapsed() time.Duration {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return time.Duration(w.ticks) * tick
}

// tell adds a line to the story.
func (w *world) tell(who, what string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.calm && strings.HasSuffix(what, "done") && (strings.HasPrefix(what, "reads") || strings.HasPrefix(what, "looks")) {
		return // a process that finds nothing new
	}
	w.story = append(w.story, fmt.Sprintf("%6s  %-10s %s", (time.Duration(w.ticks)*tick).Truncate(time.Second), who, what))
}

// fail ends the run: a promise is broken.
func (w *world) fail(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.tell("BROKEN", text)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.failure = cmp.Or(w.failure, text)
}

// Fail ends the run: a promise is broken.
func (p *Process) Fail(format string, args ...any) { p.w.fail(format, args...) }

type actorKey struct{}

// as names what a goroutine is in its process.
func as(ctx context.Context, actor string) context.Context {
	return context.WithValue(ctx, actorKey{}, actor)
}

// step waits until it is the caller's turn. It returns the fault that the world has for it. ok is false if the process
// is dead, or ctx has ended.
func (p *Process) step(ctx context.Context, of, name string, ready func() bool) (kind string, ok bool) {
	w := p.w
	if actor, named := ctx.Value(actorKey{}).(string); named {
		name += " (" + actor + ")" // several goroutines of a process do the same
	}
	if task, labelled := pprof.Label(ctx, "projection"); labelled {
		name += ", " + task
	}
	one := &waiter{p, of, name, ready, make(chan string, 1)}
	w.mutex.Lock()
	if p.dead || ctx.Err() != nil {
		w.mutex.Unlock()
		return "", false
	}
	w.waiting = append(w.waiting, one)
	w.mutex.Unlock()
	select {
	case kind, ok = <-one.next:
	case <-ctx.Done():
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.waiting = slices.DeleteFunc(w.waiting, func(other *waiter) bool { return other == one })
	return kind, ok && !p.dead
}

// Do is one I/O with its faults, which begins when it is its turn and ready, unless that is nil, returns true.
func (p *Process) Do(ctx context.Context, of Party, what string, ready func() bool, do func() error) error {
	kind, ok := p.step(ctx, of.Name, what, ready)
	switch {
	case p.dead:
		return errDead
	case !ok && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", of.Failed, ctx.Err())
	case !ok:
		return context.Cause(ctx)
	}
	var err error
	switch kind {
	case crash:
		p.w.tell(p.String(), what+"  <-- FAULT: it dies before that")
		p.w.kill(p)
		return errDead
	case refuse:
		err = of.Failed
	case belated:
		err = of.Failed
		p.w.later = append(p.w.later, func() { p.w.tell(of.Name, what+", which "+p.String()+" gave up: "+outcome(do())) })
	case conflict:
		err = es.ErrConflict
	default:
		err = do()
	}
	switch {
	case p.isDead(): // died during an I/O within this one
		return errDead
	case kind == crashAfter:
		p.w.tell(p.String(), what+": "+outcome(err)+"  <-- FAULT: it dies before the answer")
		p.w.kill(p)
		return errDead
	case kind == lose && err == nil:
		err = of.Failed
	}
	line := what + ": " + outcome(err)
	if kind != "" {
		line += "  <-- FAULT: " + kind
	}
	p.w.tell(p.String(), line)
	return err
}

func (p *Process) isDead() bool {
	p.w.mutex.Lock()
	defer p.w.mutex.Unlock()
	return p.dead
}

// outcome says how an I/O ended, without ids that differ from run to run.
func outcome(err error) string {
	var handled *es.HandledError
	switch {
	case err == nil:
		return "done"
	case errors.As(err, &handled):
		return "handled before"
	case errors.Is(err, errDead), errors.Is(err, context.Canceled):
		return "ended"
	case errors.Is(err, projection.ErrTermOver), errors.Is(err, es.ErrConflict), errors.Is(err, es.ErrUnavailable),
		errors.Is(err, projection.ErrTransient), errors.Is(err, projection.ErrRefused):
		text, _, _ := strings.Cut(err.Error(), ":")
		return text
	}
	return "failed: " + err.Error()
}

// kill ends a life of a process, and begins the next unless that has begun already.
func (w *world) kill(p *Process) {
	w.mutex.Lock()
	p.dead = true
	for _, one := range w.waiting {
		if one.p == p {
			close(one.next)
		}
	}
	w.waiting = slices.DeleteFunc(w.waiting, func(one *waiter) bool { return one.p == p })
	replace := w.live[p.kind] == p && w.start != nil
	w.mutex.Unlock()
	p.die()
	if replace {
		w.start(p.kind, p.life+1)
	}
}

// advance lets the processes run until done, which is asked whenever nothing moves.
func (w *world) advance(done func() bool, most int) {
	for {
		synctest.Wait()
		w.mutex.Lock()
		w.steps++
		failed, tooLong := w.failure != "", w.steps > most
		var ready []*waiter
		for _, one := range w.waiting {
			if one.p.until <= w.steps && (one.ready == nil || one.ready()) {
				ready = append(ready, one)
			}
		}
		slices.SortStableFunc(ready, func(a, b *waiter) int {
			return cmp.Or(cmp.Compare(a.p.String(), b.p.String()), cmp.Compare(a.name, b.name))
		})
		w.mutex.Unlock()
		for i := range len(ready) - 1 {
			if ready[i].p == ready[i+1].p && ready[i].name == ready[i+1].name {
				w.fail("%s waits for two I/Os of one name, so which is first differs from run to run: %s", ready[i].p, ready[i].name)
			}
		}
		switch {
		case failed:
			return
		case tooLong:
			w.fail("the world does not come to rest: %s", w.missing)
			return
		case len(ready) == 0 && done():
			return
		case len(ready) == 0 || w.random.IntN(25) == 0:
			<-time.After(tick)
			w.mutex.Lock()
			w.ticks++
			w.mutex.Unlock()
			continue
		}
		if len(w.later) > 0 && w.random.IntN(20) == 0 {
			w.catchUp()
			continue
		}
		one := ready[w.random.IntN(len(ready))]
		kind := w.meet(one)
		if kind == pause {
			continue // it goes on waiting
		}
		w.mutex.Lock()
		w.waiting = slices.DeleteFunc(w.waiting, func(other *waiter) bool { return other == one })
		w.mutex.Unlock()
		one.next <- kind
	}
}

// catchUp does what was given up.
func (w *world) catchUp() {
	later := w.later
	w.later = nil
	for _, do := range later {
		do()
	}
}

// meet returns the fault that meets the waiter. It does those that do not concern the I/O itself.
func (w *world) meet(one *waiter) string {
	client := one.p.kind == "client"
	if client && !strings.HasPrefix(one.name, "hears") || w.calm {
		return ""
	}
	w.mutex.Lock()
	kind := w.faults[w.ios]
	w.ios++
	w.mutex.Unlock()
	last := w.steps + outageLast
	if (kind == unheard) != client {
		w.faults[w.ios] = cmp.Or(w.faults[w.ios], kind) // it meets the next one
		return ""
	}
	if w.steps < max(one.p.without, one.p.cut[one.of]) || w.steps < w.full[one.of] && writes(one.name) ||
		w.steps < w.throttled[one.of] && w.ios%2 == 0 {
		return refuse
	}
	if kind == full && !writes(one.name) || (kind == conflict || kind == belated) && !strings.HasPrefix(one.name, "appends") {
		w.faults[w.ios] = cmp.Or(w.faults[w.ios], kind) // it meets the next one
		return ""
	}
	switch kind {
	case outage:
		one.p.without = last
		return refuse
	case cut:
		w.tell(one.p.String(), "<-- FAULT: it does not reach the "+one.of+" any more")
		one.p.cut[one.of] = last
		return refuse
	case full:
		w.tell(one.of, "<-- FAULT: there is no space left")
		w.full[one.of] = last
		return refuse
	case throttle:
		w.tell(one.of, "<-- FAULT: it throttles")
		w.throttled[one.of] = last
		return refuse
	case pause:
		if w.live[one.p.kind] != one.p || !w.free() || one.p.kind == "operator" { // only one may rebuild a file's rows
			return ""
		}
		w.tell(one.p.String(), one.name+"  <-- FAULT: it is paused before that, and another takes over")
		one.p.until = w.steps + pauseLast
		w.start(one.p.kind, one.p.life+1)
		return pause
	case clock:
		w.mutex.Lock()
		one.p.skew = time.Duration(w.random.IntN(240)-120) * time.Minute
		w.mutex.Unlock()
		w.tell(one.p.String(), fmt.Sprintf("<-- FAULT: its clock jumps to %s", one.p.skew))
		return ""
	case inapplicable:
		w.tell("rows", "<-- FAULT: no event can be applied")
		w.inapplicable = w.steps + inapplicableLast
		return ""
	case trim, split, again, shuffle, garble, late:
		w.tell("stream", "<-- FAULT: "+kind)
		w.stream.meet(kind)
		return ""
	}
	if w.consumer != nil && slices.Contains(w.consumer.Faults(), kind) {
		w.tell(w.consumer.Name(), "<-- FAULT: "+kind)
		w.consumer.Meet(kind)
		return ""
	}
	return kind
}

func writes(what string) bool {
	verb, _, _ := strings.Cut(what, " ")
	return slices.Contains([]string{"appends", "saves", "asks", "changes", "takes"}, verb)
}

// gateway is the event store as a process sees it.
type gateway struct {
	*store
	p     *Process
	ready func() bool // see [Process.Do]
}

func (g gateway) do(ctx context.Context, what string, do func() error) error {
	return g.p.Do(ctx, journal, what, g.ready, do)
}

func (g gateway) Append(ctx context.Context, write es.Append) error {
	what := fmt.Sprintf("appends %d events and %d receipts to %s after %d", len(write.Entries), len(write.Receipts), nameOf(write.ID), write.ExpectedVersion)
	whenever := context.WithoutCancel(ctx) // it may be belated
	return g.do(ctx, what, func() error { return g.store.Append(whenever, write) })
}

func (g gateway) AskToYield(ctx context.Context, id es.AggregateID) error {
	return g.do(ctx, "asks to yield at "+nameOf(id), func() error { return g.store.AskToYield(ctx, id) })
}

func (g gateway) Receipt(ctx context.Context, tenant es.Tenant, command string) (receipt es.Receipt, found bool, err error) {
	// The first caller of a batch reads those of the others, too, while it may have gone on: each has its own name.
	err = g.do(ctx, "reads a receipt, "+command[len(command)-4:], func() (err error) {
		receipt, found, err = g.store.Receipt(ctx, tenant, command)
		return err
	})
	return receipt, found, err
}

// answer returns what one I/O asks for.
func answer[T any](ctx context.Context, do func(context.Context, string, func() error) error, what string, ask func() (T, error)) (found T, err error) {
	err = do(ctx, what, func() (err error) {
		found, err = ask()
		return err
	})
	return found, err
}

func (g gateway) Head(ctx context.Context, id es.AggregateID) (es.Head, error) {
	return answer(ctx, g.do, "reads the head of "+nameOf(id), func() (es.Head, error) { return g.store.Head(ctx, id) })
}

func (g gateway) SaveSnapshot(ctx context.Context, id es.AggregateID, snapshot es.Snapshot) error {
	what := fmt.Sprintf("saves the snapshot of %s at %d", nameOf(id), snapshot.Version)
	return g.do(ctx, what, func() error { return g.store.SaveSnapshot(ctx, id, snapshot) })
}

func (g gateway) Entries(ctx context.Context, id es.AggregateID, after, upTo uint64) iter.Seq2[es.Entry, error] {
	what := fmt.Sprintf("reads events %d to %d of %s", after+1, upTo, nameOf(id))
	return afterwards(g, ctx, what, g.store.Entries(ctx, id, after, upTo))
}

func (g gateway) EntriesAt(ctx context.Context, id es.AggregateID, seqNrs []uint64) iter.Seq2[es.Entry, error] {
	return afterwards(g, ctx, fmt.Sprintf("reads events %d of %s", seqNrs, nameOf(id)), g.store.EntriesAt(ctx, id, seqNrs))
}

func (g gateway) Snapshots(ctx context.Context, id es.AggregateID, head es.Head) iter.Seq2[es.Snapshot, error] {
	return afterwards(g, ctx, "reads the snapshots of "+nameOf(id), g.store.Snapshots(ctx, id, head))
}

func (g gateway) Heads(ctx context.Context, aggregateType string) iter.Seq2[es.StoredAggregate, error] {
	return afterwards(g, ctx, "lists the heads", g.store.Heads(ctx, aggregateType))
}

func (g gateway) ReadJournal(ctx context.Context, part, parts int, after string) iter.Seq2[es.JournalPage, error] {
	return func(yield func(es.JournalPage, error) bool) {
		for page, err := range g.store.ReadJournal(ctx, part, parts, after) {
			if lost := g.do(ctx, "reads a page of the journal", func() error { return nil }); lost != nil {
				page, err = es.JournalPage{}, lost
			}
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}

// afterwards yields what is read after one I/O.
func afterwards[T any](g gateway, ctx context.Context, what string, read iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err := g.do(ctx, what, func() error { return nil }); err != nil {
			var none T
			yield(none, err)
			return
		}
		read(yield)
	}
}

// rows are a projection's tables as a process sees them: real ones, on SQLite. One transaction at a time.
type rows struct {
	*rowstore.Store
	p    *Process
	name string
}

func (r rows) do(ctx context.Context, what string, do func() error) error {
	return r.p.Do(ctx, table, what+" of "+r.name, r.p.w.free, do)
}

func (r rows) Change(ctx context.Context, change func(context.Context, projection.Tx) error) error {
	err := r.do(ctx, "changes rows", func() error {
		r.p.w.changing++
		err := r.Store.Change(ctx, change)
		r.p.w.changing--
		if err == nil {
			r.p.w.changed(r)
		}
		return err
	})
	if errors.Is(err, projection.ErrTermOver) {
		r.p.w.kill(r.p) // it stands by, and does nothing more
	}
	return err
}

func (r rows) Versions(ctx context.Context, keys []es.AggregateID) (map[es.AggregateID]uint64, error) {
	return answer(ctx, r.do, "reads positions", func() (map[es.AggregateID]uint64, error) { return r.Store.Versions(ctx, keys) })
}

func (r rows) Parked(ctx context.Context, due time.Time, after es.AggregateID, limit int) ([]projection.DeadLetter, error) {
	return answer(ctx, r.do, "reads dead letters", func() ([]projection.DeadLetter, error) { return r.Store.Parked(ctx, due, after, limit) })
}

func (r rows) Positions(ctx context.Context, after es.AggregateID, limit int) ([]projection.AtVersion, error) {
	return answer(ctx, r.do, "lists positions", func() ([]projection.AtVersion, error) { return r.Store.Positions(ctx, after, limit) })
}

func (r rows) Types(ctx context.Context) ([]projection.Type, error) {
	return answer(ctx, r.do, "reads types", func() ([]projection.Type, error) { return r.Store.Types(ctx) })
}

func (r rows) Checkpoints(ctx context.Context, source string) ([]projection.Checkpoint, error) {
	return answer(ctx, r.do, "reads checkpoints", func() ([]projection.Checkpoint, error) { return r.Store.Checkpoints(ctx, source) })
}
