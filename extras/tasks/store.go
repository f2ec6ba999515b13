// Package tasks creates and executes long work. [Store] belongs to the program that clients call: it stores the input
// and creates the task. [Worker] belongs to the program that executes tasks, and continues where a killed worker
// stopped. They share the event store: the task itself (extras/tasks/task), and its input and result in its [es.Spool].
package tasks

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"slices"
	"time"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/extras/erasure"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/usecase/chat"
)

// Store creates tasks for those who ask, and shows them to these, their creators. It is safe for concurrent use.
type Store struct {
	Events interface {
		es.Reader
		es.Spool
	}
	Keys   *erasure.Keyring                                                       // nil: erasure is off
	Handle func(context.Context, es.Request[task.Order]) (es.Result, error)       // handles commands on tasks
	Thread func(context.Context, es.AggregateID) (es.State[thread.Thread], error) // reads the latest state of a thread
}

// The rejections of requests for tasks and their results, beside those of the tasks themselves.
var (
	ErrTaskNotFinished = ident.Conflict("task_not_finished", "the task is not finished; its result is there once it is")
	ErrExpired         = ident.NotFound("task_not_found", "the input or the result of the task has expired; send it again as a new task")
	ErrNoRoom          = ident.Conflict("task_storage_full",
		"the inputs and results of your tasks take all the room there is for an account or tenant; wait until tasks are done, cancel some, or wait until results expire")
)

const (
	partsAtOnce   = 8 // parts of an import that are stored at once
	deleteTimeout = 10 * time.Second
)

// Import creates a task that handles each line of input as a command. A line that is too long is an
// [ident.InvalidError]. Of an input that does not arrive whole nothing is kept.
func (s Store) Import(ctx context.Context, asked rest.Conditions, input io.Reader) (es.Result, error) {
	id, digest := rest.NewID[task.Task](), sha256.New()
	request, err := s.storeInput(ctx, asked, id, io.TeeReader(input, digest))
	if err != nil {
		s.deleteInput(ctx, asked.Caller.Tenant, id)
		return es.Result{}, err
	}
	return s.create(ctx, asked, id, request, "task.Import", hex.EncodeToString(digest.Sum(nil)))
}

func (s Store) storeInput(ctx context.Context, asked rest.Conditions, id task.ID, input io.Reader) (task.Request, error) {
	request := task.Request{Kind: task.Import}
	file := fileOf(asked.Caller.Tenant, asked.Caller.Executor, id, inputFile)
	var waiting [][]byte
	put := func() (err error) {
		if len(waiting) > 0 {
			err = s.putSealed(ctx, file, request.Parts-uint64(len(waiting)), waiting...)
			waiting = nil
		}
		return err
	}
	for part, err := range cut(input) {
		before := request.Total
		for range part.all() {
			request.Total++
		}
		if err == nil && request.Total == before { // of blank lines: it would cost rows that no limit counts
			continue
		}
		if err == nil {
			err = s.sealOthers(ctx, asked, file.Name, part)
		}
		waiting = append(waiting, part.stored())
		if request.Parts++; err == nil && len(waiting) == partsAtOnce {
			err = put()
		}
		if err != nil {
			return request, err
		}
	}
	return request, put()
}

// Export creates a task that writes the events of a thread. Only its Admins may.
func (s Store) Export(ctx context.Context, asked rest.Conditions, id thread.ID) (es.Result, error) {
	if err := s.checkExport(ctx, asked.Caller.Tenant, asked.Executor, id); err != nil {
		return es.Result{}, err
	}
	request := task.Request{Kind: task.ExportThread, Subject: id.String()}
	return s.create(ctx, asked, rest.NewID[task.Task](), request, "task.ExportThread", id.String())
}

// checkExport returns why the user may not export the thread.
func (s Store) checkExport(ctx context.Context, tenant es.Tenant, user ident.UserID, id thread.ID) error {
	state, err := s.Thread(ctx, chat.ThreadKey(tenant, id))
	return cmp.Or(err, state.Value.CheckAdmin(user))
}

// Later is a command whose answer is fetched later, as stored until it is handled.
type Later struct {
	Path           string `json:"path"`
	Body           []byte `json:"body"`
	IdempotencyKey string `json:"idempotency_key"`
	IfVersion      uint64 `json:"if_version,omitempty"`
}

// Later creates a task that handles one command, of the operation at path. Repeats are recognised by its content.
func (s Store) Later(ctx context.Context, path string, r rest.Prepared) (es.Result, error) {
	id := rest.NewID[task.Task]()
	input, err := json.Marshal(Later{path, r.Body, cmp.Or(r.IdempotencyKey, lineKey(id, 1)), r.IfVersion})
	if err == nil {
		err = s.putSealed(ctx, fileOf(r.Caller.Tenant, r.Caller.Executor, id, inputFile), 0, input)
	}
	if err != nil {
		s.deleteInput(ctx, r.Caller.Tenant, id)
		return es.Result{}, err
	}
	request := task.Request{Kind: task.Command, Subject: path, Parts: 1, Total: 1}
	return s.create(ctx, r.Conditions, id, request, "task.Later "+r.Name, r.Content)
}

// create creates a task, even if the client goes meanwhile. Its input is deleted if the task is rejected, or exists
// already: then it has its own. If the outcome is unknown, the input expires.
func (s Store) create(
	ctx context.Context, asked rest.Conditions, id task.ID, request task.Request, name, content string,
) (es.Result, error) {
	ctx = context.WithoutCancel(ctx)
	request.Creator, request.ForOthers = asked.Executor, asked.Principal.NamesAnyone()
	order := es.Request[task.Order]{
		Caller: asked.Caller, ID: id.String(), Begins: true, Command: task.Create{Request: request}, Name: name, Content: content,
		IdempotencyKey: asked.IdempotencyKey,
	}
	var result es.Result
	err := erasure.DigestContent(ctx, s.Keys, &order)
	if err == nil {
		result, err = s.Handle(ctx, order)
	}
	unknown := slices.Contains([]es.Kind{es.Unavailable, es.Inconsistent, es.Internal}, es.KindOf(err))
	if err == nil && result.Key.ID != id.String() || err != nil && !unknown {
		s.deleteInput(ctx, asked.Caller.Tenant, id)
	}
	return result, err
}

// deleteInput deletes an input that is not needed any more, even if the client has gone; at the latest it expires.
func (s Store) deleteInput(ctx context.Context, tenant es.Tenant, id task.ID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
	defer cancel()
	_ = s.Events.DeleteFile(ctx, fileOf(tenant, "", id, inputFile))
}

// Cancel ends a task of the executor, or for operators of anybody, and deletes its input.
func (s Store) Cancel(ctx context.Context, asked rest.Conditions, id task.ID) (es.Result, error) {
	order := task.Cancel{Executor: asked.Executor, Operator: asked.Principal.IsOperator()}
	result, err := s.Handle(ctx, es.Request[task.Order]{
		Caller: asked.Caller, ID: id.String(), Command: order, Name: task.OrderName(order), Content: id.String(),
		IfVersion: asked.IfVersion, IdempotencyKey: asked.IdempotencyKey,
	})
	if err == nil {
		s.deleteInput(ctx, asked.Caller.Tenant, id)
	}
	return result, err
}

// Find returns a task of the caller's executor, or [task.ErrTaskNotFound].
func (s Store) Find(ctx context.Context, caller es.Caller, id string) (Details, error) {
	parsed, err := ident.Parse[task.Task](id)
	if err != nil {
		return Details{}, task.ErrTaskNotFound // as everything that is no task
	}
	found, err := s.find(ctx, task.Key(caller.Tenant, parsed))
	if err == nil && found.CreatedBy.String() != caller.Executor {
		return Details{}, task.ErrTaskNotFound
	}
	return found, err
}

// Details is a task with everything known about it.
type Details struct {
	Row
	Request  task.Request
	Envelope es.Envelope // of the event that created it
}

func (d Details) file(what string) es.File { return fileOf(d.Tenant, d.CreatedBy.String(), d.ID, what) }

// find returns a task as its first and its last event describe it, or [task.ErrTaskNotFound].
func (s Store) find(ctx context.Context, key es.AggregateID) (found Details, err error) {
	head, err := s.Events.Head(ctx, key)
	if err == nil && head.Version == 0 {
		err = task.ErrTaskNotFound
	}
	if err != nil {
		return found, err
	}
	codec := task.Events()
	for entry, err := range s.Events.EntriesAt(ctx, key, slices.Compact([]uint64{1, head.Version})) {
		var recorded es.Recorded[task.Event]
		if err == nil {
			recorded, err = codec.Decode(entry.Payload)
		}
		if err == nil {
			found.Row, err = next(found.Row, found.Version > 0, recorded)
		}
		if err != nil {
			return found, err
		}
		if created, begins := recorded.Event.(task.Created); begins {
			found.Request, found.Envelope = created.Request, recorded.Envelope
		}
	}
	return found, nil
}

// Result yields the result of a task part by part. Before the first part it may fail with [ErrTaskNotFinished] or
// [ErrExpired]. A part is empty if it is of an import without rejections.
func (s Store) Result(ctx context.Context, found Details) (iter.Seq2[[]byte, error], error) {
	switch {
	case !found.Finished():
		return nil, ErrTaskNotFinished
	case time.Now().After(found.file(resultFile).Expires):
		return nil, ErrExpired
	}
	return func(yield func([]byte, error) bool) {
		// Without success there may be parts that were not reported any more, or no room for the last one.
		whole := found.Status == task.Succeeded
		for number := uint64(0); number < found.Parts || !whole; number++ {
			content, err := s.resultPart(ctx, found, number)
			if !whole && errors.Is(err, ErrExpired) || !yield(content, err) || err != nil {
				return
			}
		}
	}, nil
}

func (s Store) resultPart(ctx context.Context, found Details, number uint64) ([]byte, error) {
	content, err := s.part(ctx, found.file(resultFile), number)
	switch {
	case errors.Is(err, account.ErrAccountErased):
		return encodeLines(erasure.Erased), nil
	case err == nil && found.Request.Kind == task.Import:
		return s.openRejected(ctx, found.Tenant, content)
	case err == nil && found.Request.Kind == task.ExportThread:
		return s.Keys.OpenJSON(ctx, found.Tenant, content)
	}
	return content, err
}
