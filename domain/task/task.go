package task

import "example.com/threads/domain/ident"

// AggregateType is the name of tasks in event stores.
const AggregateType = "task"

// ID identifies a task.
type ID = ident.Of[Task]

// Kind is what a task does.
type Kind string

// The kinds. They are stored, so they never change.
const (
	Import       Kind = "import"        // many commands, one a line
	ExportThread Kind = "export_thread" // the events of one thread
	Command      Kind = "command"       // one command, whose answer is fetched later
)

// Status is how far a task is.
type Status string

// The statuses. The last three are final.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Progress is how far the work is. Parts of the input (or, where there is none, of the result) are done as a whole or
// not at all, so a worker that goes on begins with the first part that is not counted here.
type Progress struct {
	Parts    uint64
	Done     uint64 // lines or events
	Total    uint64 // 0: not known yet
	Rejected uint64 // of Done
}

// Request is what a task is asked to do.
type Request struct {
	Creator ident.UserID
	Kind    Kind
	Subject string // what it is about: the thread of an export, the path of a command; else empty
	Parts   uint64 // of the input
	Total   uint64 // 0: not known yet
	// ForOthers lets the commands of the task act as other accounts than the creator's.
	ForOthers bool
}

// Task is the state of a task. The zero value is a task that does not exist.
type Task struct {
	creator  ident.UserID
	status   Status
	progress Progress
}

// Memento is the state of a task that exists, laid open for its snapshots.
type Memento struct {
	Creator  ident.UserID
	Status   Status
	Progress Progress
}

// Memento lays the state open.
func (t Task) Memento() Memento { return Memento{t.creator, t.status, t.progress} }

// Task returns the state that m was taken from.
func (m Memento) Task() Task { return Task{m.Creator, m.Status, m.Progress} }

// Usable returns the rejection if the task does not exist or is finished; otherwise nil.
func (t Task) Usable() error {
	switch t.status {
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

// OrderName is the name by which a repeat of the command is recognised; it never changes.
func OrderName(o Order) string { return o.name() }

// Create wants the task done.
type Create struct{ Request Request }

// Start says that a worker begins.
type Start struct{}

// Report says that a worker has finished more parts.
type Report struct{ Progress Progress }

// Succeed says that all is done.
type Succeed struct{ Progress Progress }

// Fail says that the rest can't be done, and why.
type Fail struct {
	Progress Progress
	Message  string
}

// Cancel wants the rest of the work left undone.
type Cancel struct{ Executor ident.UserID }

func (Create) name() string  { return "task.Create" }
func (Start) name() string   { return "task.Start" }
func (Report) name() string  { return "task.Report" }
func (Succeed) name() string { return "task.Succeed" }
func (Fail) name() string    { return "task.Fail" }
func (Cancel) name() string  { return "task.Cancel" }

// Why commands on tasks are rejected. Compare with [errors.Is].
var (
	ErrTaskNotFound  = ident.NotFound("task_not_found", "the task does not exist")
	ErrTaskFinished  = ident.Conflict("task_finished", "the task is finished")
	ErrTaskOvertaken = ident.Conflict("concurrent_update", "another worker is further with the task")
)
