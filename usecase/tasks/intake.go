package tasks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"time"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/task"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/command"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/erasure"
)

// ErrTaskNotFinished: there is no result yet.
var ErrTaskNotFinished = ident.Conflict("task_not_finished", "the task is not finished; its result is there once it is")

// ErrResultGone: the result has expired.
var ErrResultGone = ident.NotFound("task_not_found", "the result of the task has expired")

// Intake creates tasks and shows them to their creators. All fields but Keys are required. It is safe for concurrent
// use.
type Intake struct {
	Handler  Handler
	Reader   Reader
	Files    Files
	Threads  Threads
	Keys     *erasure.Keyring // nil: erasure is off
	AuthorOf AuthorOf
	NewID    func() task.ID
	Clock    func() time.Time
}

// Asked describes a request for a task.
type Asked struct {
	Caller         es.Caller
	Creator        ident.UserID // the caller's executor
	ForOthers      bool         // the creator may act for other accounts
	IdempotencyKey string       // a repeat with the same key gets the same task
}

// Import creates a task that handles each line of input as a command. It reads the whole input, with one part in
// memory. A line that is too long is an [ident.InvalidError].
func (i *Intake) Import(ctx context.Context, asked Asked, input io.Reader) (command.Result, error) {
	id, digest := i.NewID(), sha256.New()
	request := task.Request{Kind: task.Import}
	for part, err := range cut(io.TeeReader(input, digest)) {
		if err == nil {
			part, err = i.sealOthers(ctx, asked, inputOf(id), request.Parts, part)
		}
		if err == nil {
			err = i.put(ctx, asked, id, request.Parts, part)
		}
		if err != nil {
			return command.Result{}, err // the stored parts will expire
		}
		request.Parts++
		request.Total += part.count()
	}
	return i.create(ctx, asked, id, request, "task.Import", hex.EncodeToString(digest.Sum(nil)))
}

// Export creates a task that writes the events of a thread. Only its Admins may.
func (i *Intake) Export(ctx context.Context, asked Asked, id thread.ID) (command.Result, error) {
	if err := i.Threads.CheckExport(ctx, asked.Caller.Tenant, id, asked.Creator); err != nil {
		return command.Result{}, err
	}
	request := task.Request{Kind: task.ExportThread, Subject: id.String()}
	return i.create(ctx, asked, i.NewID(), request, "task.ExportThread", id.String())
}

// Later creates a task that handles one command with this name. Repeats are recognised by content.
func (i *Intake) Later(ctx context.Context, asked Asked, later Later, name, content string) (command.Result, error) {
	id := i.NewID()
	if later.IdempotencyKey == "" {
		later.IdempotencyKey = lineKey(id, 1)
	}
	input, err := json.Marshal(later)
	if err != nil {
		return command.Result{}, err
	}
	if err := i.put(ctx, asked, id, 0, input); err != nil {
		return command.Result{}, err
	}
	request := task.Request{Kind: task.Command, Subject: later.Path, Parts: 1, Total: 1}
	return i.create(ctx, asked, id, request, "task.Later "+name, content)
}

func (i *Intake) put(ctx context.Context, asked Asked, id task.ID, number uint64, content []byte) error {
	file := inputOf(id)
	sealed, err := seal(ctx, i.Keys, asked.Caller.Tenant, asked.Creator, file, number, content)
	if err != nil {
		return err
	}
	return i.Files.PutPart(ctx, asked.Caller.Tenant.String(), file, number, sealed, i.Clock().Add(Kept))
}

func (i *Intake) create(ctx context.Context, asked Asked, id task.ID, request task.Request, name, content string) (command.Result, error) {
	request.Creator, request.ForOthers = asked.Creator, asked.ForOthers
	order := command.Request[task.Order]{
		Caller: asked.Caller, ID: id.String(), Begins: true, Command: task.Create{Request: request}, Name: name, Content: content,
		IdempotencyKey: asked.IdempotencyKey,
	}
	if err := chat.DigestContent(ctx, i.Keys, &order); err != nil {
		return command.Result{}, err
	}
	return i.Handler.Handle(ctx, order)
}

// Find returns a task of the asker, or [task.ErrTaskNotFound].
func (i *Intake) Find(ctx context.Context, tenant es.Tenant, asker ident.UserID, id task.ID) (Details, error) {
	found, err := i.Reader.Find(ctx, tenant, id)
	if err == nil && found.CreatedBy != asker {
		return Details{}, task.ErrTaskNotFound
	}
	return found, err
}

// Result yields the result of the asker's finished task part by part. Before the first part it may fail with
// [task.ErrTaskNotFound], [ErrTaskNotFinished] or [ErrResultGone].
func (i *Intake) Result(ctx context.Context, tenant es.Tenant, asker ident.UserID, id task.ID) (iter.Seq2[[]byte, error], error) {
	found, err := i.Find(ctx, tenant, asker, id)
	switch {
	case err != nil:
		return nil, err
	case !found.Finished():
		return nil, ErrTaskNotFinished
	case i.Clock().After(found.CreatedAt.Add(Kept)):
		return nil, ErrResultGone
	}
	return func(yield func([]byte, error) bool) {
		for number := range found.Progress.Parts {
			content, exists, err := i.Files.Part(ctx, tenant.String(), resultOf(id), number)
			if exists && err == nil {
				if content, err = unseal(ctx, i.Keys, tenant, content); err == nil && found.Request.Kind == task.Import {
					content, err = openRejected(ctx, i.Keys, tenant, content)
				} else if errors.Is(err, account.ErrAccountErased) {
					content, err = []byte(`"`+erasure.Erased+"\"\n"), nil
				}
			}
			if exists || err != nil { // a part of an import without rejections has no result
				if !yield(content, err) || err != nil {
					return
				}
			}
		}
	}, nil
}
