// Package task has the rules of long work: a client requests it, a worker executes it and reports its progress, and its
// creator may cancel it. The package does not know what the work is.
package task

import (
	"fmt"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
)

// AggregateType is the name of tasks in event stores.
const AggregateType = "task"

type ID = ident.Of[Task]

type Kind string

// The kinds. They are stored, so they never change.
const (
	Import       Kind = "import"        // many commands, one a line
	ExportThread Kind = "export_thread" // the events of one thread
	Command      Kind = "command"       // one command, whose answer is fetched later
)

type Status string

// The statuses. The last three are final.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Progress is the progress of a task. Parts (of the input, or without one of the result) are done completely or again.
type Progress struct {
	Parts    uint64 `json:"parts"`
	Done     uint64 `json:"done" db:"done"`         // lines or events
	Total    uint64 `json:"total" db:"total"`       // 0: unknown
	Rejected uint64 `json:"rejected" db:"rejected"` // of Done
}

// Request describes the work of a task.
type Request struct {
	Creator ident.UserID `json:"created_by"`
	Kind    Kind         `json:"kind"`
	Subject string       `json:"subject"` // the thread of an export, the path of a command; otherwise empty
	Parts   uint64       `json:"parts"`   // of the input
	Total   uint64       `json:"total"`   // 0: unknown
	// ForOthers lets the task's commands act for other accounts than the creator's.
	ForOthers bool `json:"for_others"`
}

// Task is the state of a task. The zero value is a task that does not exist. Snapshots have its JSON.
type Task struct {
	Creator  ident.UserID
	Status   Status
	Progress Progress // that was reported last
}

// Usable returns the rejection if the task does not exist or is finished; otherwise nil.
func (t Task) Usable() error {
	switch t.Status {
	case "":
		return ErrTaskNotFound
	case Succeeded, Failed, Cancelled:
		return ErrTaskFinished
	case Queued, Running:
	}
	return nil
}

// Order is a command on a task. The set is closed.
//
//sumtype:decl
type Order interface {
	// name returns the result of [OrderName].
	name() string
}

// OrderName returns the name by which repeats of the command are recognised; it must never change.
func OrderName(o Order) string { return o.name() }

// The commands.
type (
	Create struct{ Request }  // creates the task
	Start  struct{}           // a worker begins
	Report struct{ Progress } // a worker has finished more parts
	Finish Finished           // all parts are done, or the rest can't be done
	// Cancel ends the task without the rest of the work. An operator may cancel any task, others their own.
	Cancel struct {
		Executor ident.UserID
		Operator bool
	}
)

func (Create) name() string { return "task.Create" }
func (Start) name() string  { return "task.Start" }
func (Report) name() string { return "task.Report" }
func (Finish) name() string { return "task.Finish" }
func (Cancel) name() string { return "task.Cancel" }

// The rejections of commands on tasks. Compare with [errors.Is].
var (
	ErrTaskNotFound  = ident.NotFound("task_not_found", "the task does not exist")
	ErrTaskFinished  = ident.Conflict("task_finished", "the task is finished")
	ErrTaskOvertaken = ident.Conflict("concurrent_update", "another worker is further with the task")
)

func Key(tenant es.Tenant, id ID) es.AggregateID {
	return es.AggregateID{Tenant: tenant, Type: AggregateType, ID: id.String()}
}

// Events returns the codec of tasks' events, which are written as their own JSON.
func Events() *es.Codec[Event] {
	return es.NewCodec(AggregateType, ident.Canonical,
		es.Plain[Event, Created]("TaskCreated").Whole(), es.Plain[Event, Started]("TaskStarted"),
		es.Plain[Event, Progressed]("TaskProgressed").Whole(), es.Plain[Event, Finished]("TaskFinished").Whole())
}

func Aggregate() es.Aggregate[Task, Order, Event] {
	return es.Aggregate[Task, Order, Event]{
		Decide: Decide, Apply: Task.Apply, Usable: Task.Usable, Events: Events(),
	}
}

// Decide returns the events that result from the command on t, or the rejection. It is pure.
func Decide(t Task, order Order) ([]Event, error) {
	_, begins := order.(Create)
	cancel, cancels := order.(Cancel)
	switch {
	case cancels && cancel.Executor != t.Creator && !cancel.Operator:
		return nil, ErrTaskNotFound // a task is invisible to other accounts
	case !begins && t.Usable() != nil:
		return nil, t.Usable()
	}
	var event Event
	overtaken := false
	switch o := order.(type) {
	case Create:
		event, overtaken = Created(o), t.Status != ""
	case Start:
		event, overtaken = Started{}, t.Status == Running
	case Report:
		event, overtaken = Progressed(o), o.Parts <= t.Progress.Parts
	case Finish:
		event, overtaken = Finished(o), o.Parts < t.Progress.Parts
	case Cancel:
		event = Finished{Status: Cancelled, Progress: t.Progress}
	}
	if overtaken {
		return nil, ErrTaskOvertaken
	}
	return []Event{event}, nil
}

// Event is a fact about a task. The set is closed. Every event after Started has the whole progress, so the first and
// the last event describe the task completely.
//
//sumtype:decl
type Event interface{ isEvent() }

// The events.
type (
	Created    struct{ Request }  // the task was created
	Started    struct{}           // a worker has begun
	Progressed struct{ Progress } // a worker has finished more parts
	Finished   struct {           // the task has reached a final status
		Status  Status `json:"status"`
		Message string `json:"message"` // why it failed; otherwise empty
		Progress
	}
)

func (Created) isEvent()    {}
func (Started) isEvent()    {}
func (Progressed) isEvent() {}
func (Finished) isEvent()   {}

// Apply returns the state after the event. It never fails.
func (t Task) Apply(event Event) Task {
	switch e := event.(type) {
	case Created:
		return Task{Creator: e.Creator, Status: Queued, Progress: Progress{Total: e.Total}}
	case Started:
		t.Status = Running
	case Progressed:
		t.Status, t.Progress = Running, e.Progress
	case Finished:
		t.Status, t.Progress = e.Status, e.Progress
	default: // only a new event without a case can get here
		panic(fmt.Sprintf("task: no state after event %T", event))
	}
	return t
}
