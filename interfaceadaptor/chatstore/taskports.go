package chatstore

import (
	"context"
	"errors"
	"iter"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/extras/tasks"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/usecase/chat"
)

var (
	_ tasks.Reader  = TaskReader{}
	_ tasks.Files   = TaskFiles{}
	_ tasks.Threads = ThreadAdmins{}
	_ tasks.Journal = Journal{}
)

// TaskReader implements [tasks.Reader] on an event store.
type TaskReader struct{ Journal es.Reader }

// Find reads the first and the last event of the task, which together describe it completely.
func (r TaskReader) Find(ctx context.Context, tenant es.Tenant, id task.ID) (found tasks.Details, err error) {
	key := chat.TaskKey(tenant, id)
	head, err := r.Journal.Head(ctx, idOf(key))
	if err != nil {
		return found, err
	}
	if head.Version == 0 {
		return found, task.ErrTaskNotFound
	}
	if err := r.apply(ctx, key, 1, &found); err != nil || head.Version == 1 {
		return found, err
	}
	return found, r.apply(ctx, key, head.Version, &found)
}

// apply applies the event with this number.
func (r TaskReader) apply(ctx context.Context, key es.AggregateID, number uint64, found *tasks.Details) error {
	for entry, err := range r.Journal.Entries(ctx, idOf(key), number-1, number) {
		if err != nil {
			return err
		}
		recorded, err := task.Events().Decode(entry.Payload)
		if err != nil {
			return err
		}
		if found.Task, err = chat.NextTask(found.Task, number > 1, recorded); err != nil {
			return err
		}
		switch e := recorded.Event.(type) {
		case task.Created:
			found.Request, found.Envelope = e.Request, recorded.Envelope
			found.Progress.Total = e.Request.Total
		case task.Started:
		case task.Progressed:
			found.Progress = e.Progress
		case task.Finished:
			found.Progress = e.Progress
		}
	}
	return nil
}

// TaskFiles implements [tasks.Files] on an event store.
type TaskFiles struct{ Spool es.Spool }

// PutParts stores parts of a file.
func (f TaskFiles) PutParts(ctx context.Context, file tasks.File, first uint64, parts ...[]byte) error {
	err := f.Spool.PutParts(ctx, fileOf(file), first, parts...)
	if errors.Is(err, es.ErrSpoolFull) {
		err = tasks.ErrNoRoom
	}
	return err
}

// Part reads a part of a file.
func (f TaskFiles) Part(ctx context.Context, file tasks.File, number uint64) ([]byte, bool, error) {
	return f.Spool.Part(ctx, file.Tenant, file.Name, number)
}

// Delete deletes a file.
func (f TaskFiles) Delete(ctx context.Context, file tasks.File) error {
	return f.Spool.DeleteFile(ctx, fileOf(file))
}

// DeleteExpired deletes the files that have expired.
func (f TaskFiles) DeleteExpired(ctx context.Context) (int, error) { return f.Spool.DeleteExpired(ctx) }

func fileOf(file tasks.File) es.File {
	return es.File{Tenant: file.Tenant, Owner: file.Creator.String(), Name: file.Name, Expires: file.Expires}
}

// ThreadAdmins implements [tasks.Threads].
type ThreadAdmins struct{ Threads *ThreadRepository }

// CheckExport reads the thread's latest state.
func (a ThreadAdmins) CheckExport(ctx context.Context, tenant es.Tenant, id thread.ID, user ident.UserID) error {
	state, err := a.Threads.Reload(ctx, chat.ThreadKey(tenant, id))
	if err != nil {
		return err
	}
	return state.Value.CheckAdmin(user)
}

// Journal implements [tasks.Journal] on an event store.
type Journal struct{ es.Reader }

// Version reads the aggregate's head.
func (j Journal) Version(ctx context.Context, key es.AggregateID) (uint64, error) {
	head, err := j.Head(ctx, idOf(key))
	return head.Version, err
}

// Events yields the payloads of entries.
func (j Journal) Events(ctx context.Context, key es.AggregateID, after, upTo uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for entry, err := range j.Entries(ctx, idOf(key), after, upTo) {
			if !yield(entry.Payload, err) || err != nil {
				return
			}
		}
	}
}

func idOf(key es.AggregateID) es.AggregateID {
	return es.AggregateID{Tenant: key.Tenant, Type: key.Type, ID: key.ID}
}
