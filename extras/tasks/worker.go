package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	esrun "example.com/threads/es/run"
	"example.com/threads/extras/erasure"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/rest"
)

const (
	lookEvery   = 500 * time.Millisecond // for unfinished tasks, without Wake
	lookAhead   = 100                    // tasks, beside those taken, among which one that can start is searched
	reportEvery = time.Second            // of the progress
	firstRetry  = time.Second            // after a failure; the pause doubles up to lastRetry
	lastRetry   = time.Minute
	maxFaults   = 10               // attempts at a task, after which a fault of the program makes it fail
	expiryEvery = 10 * time.Minute // for deleting expired inputs and results
)

// Ports are what a worker needs.
type Ports struct {
	// Unfinished returns unfinished tasks of these kinds, oldest first, without some tenants'. It may be outdated.
	Unfinished func(ctx context.Context, kinds []task.Kind, without []es.Tenant, limit int) ([]es.AggregateID, error)
	// IsActive reports whether a tenant is not suspended. It answers from a cache. Default: all are active.
	IsActive func(ctx context.Context, tenant es.Tenant) (bool, error)
	Store
	Commands []rest.Aggregate      // that tasks may send
	Timeout  time.Duration         // of a command
	Finish   func(context.Context) // completes the commands in progress once no task is executed any more
	Log      *slog.Logger
}

// Worker executes tasks, several at the same time. Another worker on the same tasks would do useless work.
type Worker struct {
	ports Ports
	lanes []lane
	woken chan struct{}
	taken sync.Map // keys of tasks in progress, and of those that wait for their next attempt
}

// lane executes the tasks of some kinds, so that short tasks do not wait for long ones.
type lane struct {
	kinds []task.Kind
	slots *semaphore.Weighted // of tasks in progress
}

// NewWorker returns a worker. It works while [Worker.Run] runs.
func NewWorker(ports Ports) *Worker {
	if ports.IsActive == nil {
		ports.IsActive = func(context.Context, es.Tenant) (bool, error) { return true, nil }
	}
	return &Worker{ports: ports, woken: make(chan struct{}, 1), lanes: []lane{
		{[]task.Kind{task.Import, task.ExportThread}, semaphore.NewWeighted(2)},
		{[]task.Kind{task.Command}, semaphore.NewWeighted(8)},
	}}
}

// Wake makes the worker poll at once. It never blocks.
func (w *Worker) Wake() {
	select {
	case w.woken <- struct{}{}:
	default: // a poll is due already
	}
}

// Run executes tasks until ctx ends. The next worker continues the unfinished ones.
func (w *Worker) Run(ctx context.Context) {
	var working sync.WaitGroup
	working.Go(func() { w.deleteExpired(ctx) })
	for ctx.Err() == nil {
		for _, l := range w.lanes {
			w.fill(ctx, l, &working)
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookEvery):
		case <-w.woken:
		}
	}
	working.Wait()
	w.ports.Finish(ctx)
}

// Check implements [esrun.Consumer]: the rows of tasks tell how they are.
func (*Worker) Check(context.Context) (found esrun.Status, err error) { return found, nil }

// deleteExpired leaves the first second to what has waited for this process.
func (w *Worker) deleteExpired(ctx context.Context) {
	for pause := time.Second; es.Wait(ctx, pause) == nil; pause = expiryEvery {
		count, err := w.ports.Events.DeleteExpired(ctx)
		if err != nil && ctx.Err() == nil {
			w.ports.Log.WarnContext(ctx, "expired inputs and results of tasks could not be deleted; next try in minutes", "error", err)
		}
		if count > 0 {
			w.ports.Log.InfoContext(ctx, "deleted expired inputs and results of tasks", "count", count)
		}
	}
}

// fill begins unfinished tasks while the lane has slots.
func (w *Worker) fill(ctx context.Context, l lane, working *sync.WaitGroup) {
	keys, err := w.toDo(ctx, l)
	if err != nil && ctx.Err() == nil {
		w.ports.Log.WarnContext(ctx, "tasks to do can't be read; next try in a moment", "error", err)
	}
	for _, key := range keys {
		if _, taken := w.taken.Load(key); !taken && l.slots.TryAcquire(1) {
			w.taken.Store(key, true)
			working.Go(func() { w.attempt(ctx, l, key) })
		}
	}
}

// attempt executes a task until that does not fail temporarily. It has a slot except while it waits for the next try.
func (w *Worker) attempt(ctx context.Context, l lane, key es.AggregateID) {
	defer w.taken.Delete(key)
	for attempt := 1; ; attempt++ {
		err := w.do(ctx, key, attempt)
		l.slots.Release(1)
		w.Wake() // the slot is free for another task
		if err == nil || ctx.Err() != nil {
			_ = es.Wait(ctx, lookEvery) // its row may not say so yet
			return
		}
		w.ports.Log.WarnContext(ctx, "a task failed for now; it is tried again", "tenant", key.Tenant, "task", key.ID, "error", err)
		if es.Wait(ctx, es.Backoff(firstRetry, lastRetry, attempt-1)) != nil || l.slots.Acquire(ctx, 1) != nil {
			return
		}
	}
}

// toDo returns unfinished tasks of active tenants: lookAhead of them beside those that are taken, because many of these
// may wait for their next attempt. Tasks of other tenants may be many, and wait for long.
func (w *Worker) toDo(ctx context.Context, l lane) ([]es.AggregateID, error) {
	var without []es.Tenant
	limit := lookAhead
	w.taken.Range(func(any, any) bool { limit++; return true })
	for {
		keys, err := w.ports.Unfinished(ctx, l.kinds, without, limit)
		if err != nil {
			return nil, err
		}
		excluded := len(without)
		for _, key := range keys {
			if slices.Contains(without, key.Tenant) {
				continue
			}
			active, err := w.ports.IsActive(ctx, key.Tenant)
			if err != nil { // of this tenant alone
				w.ports.Log.WarnContext(ctx, "it is not known whether a tenant is active; its tasks wait", "tenant", key.Tenant, "error", err)
			}
			if !active {
				without = append(without, key.Tenant)
			}
		}
		if len(without) == excluded {
			return keys, nil
		}
	}
}

// run is a task in progress.
type run struct {
	*Worker
	Details
	caller   es.Caller
	reported time.Time
}

// do executes the rest of a task, and starts and finishes it. After an error it must be retried.
func (w *Worker) do(ctx context.Context, key es.AggregateID, attempt int) error {
	log := w.ports.Log.With("tenant", key.Tenant, "task", key.ID)
	found, err := w.ports.find(ctx, key)
	if err != nil {
		return err
	}
	r := &run{Worker: w, Details: found, caller: found.Envelope.Caller, reported: time.Now()}
	r.caller.Source, r.caller.CausationID = source, found.Envelope.EventID
	if !found.Finished() { // if it is, the worker before may have died before it deleted the input
		err = r.work(ctx)
	}
	switch {
	case found.Finished():
	case err == nil:
		err = r.finish(ctx, task.Succeeded, "")
	case errors.Is(err, errSuspended):
		log.InfoContext(ctx, "a task has stopped, because its tenant is suspended")
		return nil
	case isFinal(err):
		err = r.finish(ctx, task.Failed, err.Error())
	case attempt >= maxFaults && es.KindOf(err) == es.Internal:
		log.ErrorContext(ctx, "a task failed", "error", err)
		err = r.finish(ctx, task.Failed, "the server could not do it; its log says why")
	}
	switch {
	case errors.Is(err, task.ErrTaskOvertaken):
		return nil // it is another worker's
	case err != nil && !errors.Is(err, task.ErrTaskFinished): // as after a cancellation
		return err
	}
	return w.ports.Events.DeleteFile(ctx, r.file(inputFile))
}

// isFinal reports whether a retry would fail in the same way.
func isFinal(err error) bool {
	isOvertaken := errors.Is(err, task.ErrTaskFinished) || errors.Is(err, task.ErrTaskOvertaken) || errors.Is(err, es.ErrConcurrentUpdate)
	return !isOvertaken && slices.Contains([]es.Kind{es.NotFound, es.Forbidden, es.Conflict, es.Invalid}, es.KindOf(err))
}

// recovered makes an error of a panic: one task must not end the program, again whenever it is retried.
func recovered(err *error) {
	if reason := recover(); reason != nil {
		*err = fmt.Errorf("panic while executing a task: %v\n%s", reason, debug.Stack())
	}
}

// work starts the task if necessary, and executes the rest of it.
func (r *run) work(ctx context.Context) (err error) {
	defer recovered(&err)
	err = r.checkTenant(ctx)
	if err == nil && r.Status == task.Queued {
		err = r.order(ctx, task.Start{})
	}
	if err != nil {
		return err
	}
	if err = r.perform(ctx); errors.Is(err, account.ErrAccountErased) {
		return r.completeErasure(ctx, err)
	}
	return err
}

func (r *run) perform(ctx context.Context) error {
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

// completeErasure closes the account of an erased creator: this task may have ended between its key and its account. It
// returns why the task has not succeeded.
func (r *run) completeErasure(ctx context.Context, reason error) error {
	body := fmt.Appendf(nil, `{"executor_id":%q}`, r.CreatedBy)
	result, err := r.handle(ctx, time.Now(), r.request(Later{Path: erasure.Path, Body: body}))
	problem, isRejected := result.(*rest.Problem)
	switch {
	case err != nil:
		return err
	case isRejected && problem.Code != account.ErrAccountErased.Code():
		return ident.Conflict("command_rejected", problem.Detail)
	case r.Request.Subject != erasure.Path:
		return reason
	}
	err = r.store(ctx, nil)
	r.count(1, 0)
	return err
}

func (r *run) finish(ctx context.Context, status task.Status, message string) error {
	return r.order(ctx, task.Finish{Status: status, Progress: r.Progress, Message: message})
}

func (r *run) order(ctx context.Context, order task.Order) error {
	_, err := r.ports.Handle(ctx, es.Request[task.Order]{Caller: r.caller, ID: r.ID.String(), Command: order, Name: task.OrderName(order)})
	return err
}

// count counts a part as done.
func (r *run) count(done, rejected int) {
	r.Parts, r.Done, r.Rejected = r.Parts+1, r.Done+uint64(done), r.Rejected+uint64(rejected)
}

// report reports the progress unless the last report is recent. It fails with [task.ErrTaskFinished] if the task was
// cancelled, and with errSuspended, after a report, if its tenant is suspended.
func (r *run) report(ctx context.Context) error {
	stop := r.checkTenant(ctx)
	if stop == nil && time.Since(r.reported) < reportEvery {
		return nil
	}
	r.reported = time.Now()
	return cmp.Or(r.order(ctx, task.Report{Progress: r.Progress}), stop)
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

// Consume returns the consumer that executes tasks while its process has the turn.
func Consume(turn *esrun.Turn, ports Ports) esrun.Consumer {
	w := NewWorker(ports)
	turn.OnChange(func(changed []projection.AtVersion) {
		if slices.ContainsFunc(changed, func(head projection.AtVersion) bool { return head.Key.Type == task.AggregateType }) {
			w.Wake()
		}
	})
	return w
}
