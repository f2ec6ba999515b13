package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"example.com/threads/es"
	"example.com/threads/extras/tasks/task"
)

// Ports are what a worker needs.
type Ports struct {
	// Unfinished returns the keys of unfinished tasks of these kinds, oldest first, without those of some tenants. It
	// may be outdated.
	Unfinished func(ctx context.Context, kinds []task.Kind, without []es.Tenant, limit int) ([]es.AggregateID, error)
	// IsActive reports whether the tenant's tasks may be executed now: it is not suspended. It is called for every line
	// of a slow import, so it caches. Default: all may.
	IsActive func(ctx context.Context, tenant es.Tenant) (bool, error)
	Store
	Commands Commands
	Log      *slog.Logger
	// Source is the program's name, which is stored with events.
	Source string
	// Look is the interval of polls for unfinished tasks without Wake. Default: 500 ms.
	Look time.Duration
	// Retry is the pause after the first failure of a task; it doubles up to 60 times as long. Default: 1 s.
	Retry time.Duration
	// ReportEvery is the interval of progress reports. Default: 1 s.
	ReportEvery time.Duration
}

// Worker executes tasks, several at the same time. Of several workers on the same tasks only one may run: another one
// would do harmless but useless work.
type Worker struct {
	ports Ports
	lanes []*lane
}

// lane executes the tasks of some kinds, so that short tasks do not wait for long ones.
type lane struct {
	kinds []task.Kind
	slots int
	woken chan struct{}

	mutex   sync.Mutex
	running map[es.AggregateID]bool
	failed  map[es.AggregateID]failure
}

// failure is a task that waits for its next attempt.
type failure struct {
	attempts int
	again    time.Time
}

// NewWorker returns a worker. It works while [Worker.Run] runs.
func NewWorker(ports Ports) *Worker {
	ports.Look = cmp.Or(ports.Look, 500*time.Millisecond)
	ports.Retry = cmp.Or(ports.Retry, time.Second)
	ports.ReportEvery = cmp.Or(ports.ReportEvery, time.Second)
	if ports.IsActive == nil {
		ports.IsActive = func(context.Context, es.Tenant) (bool, error) { return true, nil }
	}
	newLane := func(slots int, kinds ...task.Kind) *lane {
		return &lane{kinds: kinds, slots: slots, woken: make(chan struct{}, 1), running: map[es.AggregateID]bool{}, failed: map[es.AggregateID]failure{}}
	}
	return &Worker{ports: ports, lanes: []*lane{newLane(2, task.Import, task.ExportThread), newLane(8, task.Command)}}
}

// Wake makes the worker poll at once. It never blocks.
func (w *Worker) Wake() {
	for _, l := range w.lanes {
		l.wake()
	}
}

func (l *lane) wake() {
	select {
	case l.woken <- struct{}{}:
	default: // a poll is due already
	}
}

// Run executes tasks until ctx ends. The next worker continues the unfinished ones.
func (w *Worker) Run(ctx context.Context) {
	var working sync.WaitGroup
	for _, l := range w.lanes {
		working.Go(func() { w.runLane(ctx, l, &working) })
	}
	working.Go(func() { w.deleteExpired(ctx) })
	working.Wait()
}

// expiryEvery is the interval at which expired inputs and results are deleted.
const expiryEvery = 10 * time.Minute

// deleteExpired deletes expired files until ctx ends.
func (w *Worker) deleteExpired(ctx context.Context) {
	for {
		count, err := w.ports.Events.DeleteExpired(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			w.ports.Log.WarnContext(ctx, "expired inputs and results of tasks could not be deleted; next try in minutes", "error", err)
		case count > 0:
			w.ports.Log.InfoContext(ctx, "deleted expired inputs and results of tasks", "count", count)
		}
		if es.Wait(ctx, expiryEvery) != nil {
			return
		}
	}
}

// lookAhead is the number of tasks among which one that can start is searched.
const lookAhead = 100

func (w *Worker) runLane(ctx context.Context, l *lane, working *sync.WaitGroup) {
	look := time.NewTicker(w.ports.Look)
	defer look.Stop()
	for ctx.Err() == nil {
		keys, err := w.toDo(ctx, l)
		if err != nil && ctx.Err() == nil {
			w.ports.Log.WarnContext(ctx, "tasks to do can't be read; next try in a moment", "error", err)
		}
		if err == nil {
			l.forget(keys)
		}
		for _, key := range keys {
			if attempt := l.begin(key); attempt > 0 {
				working.Go(func() { l.end(key, w.do(ctx, key, attempt), w.ports.Retry) })
			}
		}
		select {
		case <-ctx.Done():
		case <-look.C:
		case <-l.woken:
		}
	}
}

// toDo returns the keys of unfinished tasks of active tenants. The tasks of the others do not count for lookAhead: they
// may be many, and wait for long.
func (w *Worker) toDo(ctx context.Context, l *lane) ([]es.AggregateID, error) {
	active := map[es.Tenant]bool{}
	var without []es.Tenant
	for {
		keys, err := w.ports.Unfinished(ctx, l.kinds, without, lookAhead)
		if err != nil {
			return nil, err
		}
		excluded := len(without)
		for _, key := range keys {
			if _, asked := active[key.Tenant]; asked {
				continue
			}
			if active[key.Tenant], err = w.ports.IsActive(ctx, key.Tenant); err != nil {
				return nil, err
			}
			if !active[key.Tenant] {
				without = append(without, key.Tenant)
			}
		}
		if len(without) == excluded {
			return keys, nil
		}
	}
}

// begin takes a slot for the task and returns the number of the attempt; 0: there is no free slot, the task is in
// progress, or it must wait.
func (l *lane) begin(key es.AggregateID) (attempt int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.running[key] || len(l.running) >= l.slots || time.Now().Before(l.failed[key].again) {
		return 0
	}
	l.running[key] = true
	return l.failed[key].attempts + 1
}

// forget drops the failures of tasks that are no longer unfinished.
func (l *lane) forget(toDo []es.AggregateID) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	maps.DeleteFunc(l.failed, func(key es.AggregateID, _ failure) bool { return !slices.Contains(toDo, key) })
}

// end releases the slot. A task that failed temporarily waits.
func (l *lane) end(key es.AggregateID, failed error, retry time.Duration) {
	l.mutex.Lock()
	delete(l.running, key)
	if failed == nil {
		delete(l.failed, key)
	} else {
		attempts := l.failed[key].attempts
		l.failed[key] = failure{attempts + 1, time.Now().Add(es.Backoff(retry, 60*retry, attempts))}
	}
	l.mutex.Unlock()
	l.wake() // the slot is free for another task
}

// run is a task in progress.
type run struct {
	*Worker
	Details
	caller   es.Caller
	reported time.Time
}

// maxFaults is the number of attempts after which a task fails permanently because of a fault of the program.
const maxFaults = 10

// do executes a task. After an error it must be retried.
func (w *Worker) do(ctx context.Context, key es.AggregateID, attempt int) error {
	r, err := w.take(ctx, key)
	if err == nil && r != nil {
		err = r.try(ctx)
	}
	if r != nil && (err == nil || errors.Is(err, task.ErrTaskFinished)) {
		if err := w.ports.Events.DeleteFile(ctx, inputFile(r.Tenant, "", r.ID)); err != nil && ctx.Err() == nil {
			w.ports.Log.WarnContext(ctx, "the input of a finished task could not be deleted; it will expire", "tenant", key.Tenant, "task", key.ID, "error", err)
		}
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil, errors.Is(err, task.ErrTaskFinished), errors.Is(err, task.ErrTaskOvertaken):
		return nil //nolint:nilerr // this worker ends, or the task was cancelled or is another worker's
	case errors.Is(err, errSuspended):
		w.ports.Log.InfoContext(ctx, "a task has stopped, because its tenant is suspended", "tenant", key.Tenant, "task", key.ID)
		return nil
	case r != nil && attempt >= maxFaults && es.KindOf(err) == es.Internal:
		w.ports.Log.ErrorContext(ctx, "a task failed", "tenant", key.Tenant, "task", key.ID, "error", err)
		return r.order(ctx, task.Fail{Progress: r.Progress, Message: "the server could not do it; its log says why"})
	}
	w.ports.Log.WarnContext(ctx, "a task failed for now; it is tried again", "tenant", key.Tenant, "task", key.ID, "error", err)
	return err
}

// take reads a task and starts it if necessary; nil: it is finished.
func (w *Worker) take(ctx context.Context, key es.AggregateID) (*run, error) {
	found, err := w.ports.find(ctx, key.Tenant, task.IDOf(key))
	if err != nil || found.Finished() {
		return nil, err
	}
	caller := found.Envelope.Caller
	caller.Source, caller.CausationID = w.ports.Source, found.Envelope.EventID
	r := &run{Worker: w, Details: found, caller: caller, reported: time.Now()}
	if found.Status == task.Queued {
		err = r.order(ctx, task.Start{})
	}
	return r, err
}

// try executes the rest of the task and finishes it.
func (r *run) try(ctx context.Context) error {
	err := r.work(ctx)
	switch {
	case err == nil:
		return r.order(ctx, task.Succeed{Progress: r.Progress})
	case isFinal(err):
		return r.order(ctx, task.Fail{Progress: r.Progress, Message: err.Error()})
	}
	return err
}

// isFinal reports whether a retry would fail in the same way.
func isFinal(err error) bool {
	for _, again := range []error{task.ErrTaskFinished, task.ErrTaskOvertaken, es.ErrConcurrentUpdate} {
		if errors.Is(err, again) {
			return false
		}
	}
	return slices.Contains([]es.Kind{es.NotFound, es.Forbidden, es.Conflict, es.Invalid}, es.KindOf(err))
}

func (r *run) work(ctx context.Context) error {
	switch r.Request.Kind {
	case task.Import:
		return r.importLines(ctx)
	case task.ExportThread:
		return r.exportThread(ctx)
	case task.Command:
		return r.handleCommand(ctx)
	default:
		return fmt.Errorf("nobody here knows how to do a task of kind %q; a newer version of the program may", r.Request.Kind)
	}
}

// order sends a command on the task.
func (r *run) order(ctx context.Context, order task.Order) error {
	_, err := r.ports.Handler.Handle(ctx, es.Request[task.Order]{Caller: r.caller, ID: r.ID.String(), Command: order, Name: task.OrderName(order)})
	return err
}

// finishedPart records that a part is done, and reports it unless the last report is recent. It fails with
// [task.ErrTaskFinished] if the task was cancelled, and with errSuspended, after a report, if its tenant is suspended.
func (r *run) finishedPart(ctx context.Context, progress task.Progress) error {
	r.Progress = progress
	stop := r.checkTenant(ctx)
	if stop == nil && time.Since(r.reported) < r.ports.ReportEvery {
		return nil
	}
	r.reported = time.Now()
	if err := r.order(ctx, task.Report{Progress: progress}); err != nil {
		return err
	}
	return stop
}

// errSuspended: the task must wait until its tenant is active again.
var errSuspended = errors.New("the tenant is suspended")

// checkTenant fails with errSuspended if the task's tenant is suspended.
func (r *run) checkTenant(ctx context.Context) error {
	active, err := r.ports.IsActive(ctx, r.Tenant)
	if err == nil && !active {
		err = errSuspended
	}
	return err
}
