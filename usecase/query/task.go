package query

import (
	"cmp"
	"context"
	"iter"
	"time"

	"example.com/threads/es"
	"example.com/threads/extras/tasks/task"
)

// Task is the row of a task. Only its creator sees it.
type Task struct {
	Tenant    es.Tenant
	ID        task.ID
	Kind      task.Kind
	Status    task.Status
	Done      uint64 // lines or events, including rejected ones
	Total     uint64 // 0: unknown
	Rejected  uint64
	Message   string // why it failed; otherwise empty
	Version   uint64 // the seq_nr of the last event in the row
	CreatedAt time.Time
	UpdatedAt time.Time
	Audit
}

// Position returns the task's position in the list of its creator's tasks; it never changes.
func (t Task) Position() Position { return Position{At: t.CreatedAt.UnixMicro(), ID: t.ID.String()} }

// Compare orders tasks by position, the latest last.
func (t Task) Compare(other Task) int {
	return cmp.Or(t.CreatedAt.Compare(other.CreatedAt), t.ID.Compare(other.ID))
}

// Finished reports whether the task's status is final.
func (t Task) Finished() bool {
	return t.Status == task.Succeeded || t.Status == task.Failed || t.Status == task.Cancelled
}

// TaskReader reads tasks of their creators.
type TaskReader interface {
	// Task returns a task of the viewer's, or [task.ErrTaskNotFound].
	Task(ctx context.Context, viewer Viewer, id task.ID) (Task, error)
	// Tasks returns a page of the viewer's tasks, latest first.
	Tasks(ctx context.Context, viewer Viewer, page Range) (Page[Task], error)
}

// TaskChanges yields a task of the viewer's: its current state, then a state after each change, until it is finished.
// The sequence also ends with the first error, and without one when ctx ends.
func (q *Queries) TaskChanges(ctx context.Context, viewer Viewer, id task.ID) iter.Seq2[Task, error] {
	key := es.AggregateID{Tenant: viewer.Tenant, Type: task.AggregateType, ID: id.String()}
	read := func(ctx context.Context) (Task, uint64, error) {
		found, err := q.Task(ctx, viewer, id)
		return found, found.Version, err
	}
	return func(yield func(Task, error) bool) {
		for seen, err := range changes(ctx, q, key, read) {
			if !yield(seen, err) || seen.Finished() {
				return
			}
		}
	}
}
