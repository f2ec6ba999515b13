package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/go-chi/chi/v5"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/extras/tasks"
	"example.com/threads/extras/tasks/task"
)

// The operations on tasks.

const mediaNDJSON = "application/x-ndjson"

// MaxImport is the maximum size of an import, in bytes.
const MaxImport = 16 << 20

// taskReply is the answer to every request that becomes a task.
type taskReply struct {
	TaskID string `json:"task_id" doc:"The task." example:"01H42K4ABWQ5V2XQEP3A48VE0Z"`
}

func taskReplyOf(r es.Result) taskReply { return taskReply{r.Key.ID} }

// CancelTask is the body of a cancellation. It is exported, because it is embedded.
type CancelTask struct {
	By
	Task task.ID `json:"task_id" doc:"The task."`
}

func (b CancelTask) Asked() es.Request[task.Order] {
	c := task.Cancel{Executor: b.Executor}
	return es.Request[task.Order]{ID: b.Task.String(), Command: c, Name: task.OrderName(c)}
}

// cancelAnyTask is CancelTask by an operator.
type cancelAnyTask struct{ CancelTask }

func (b cancelAnyTask) Asked() es.Request[task.Order] {
	request := b.CancelTask.Asked()
	request.Command = task.Cancel{Executor: b.Executor, Operator: true}
	return request
}

// cancels handles cancellations.
type cancels struct{ intake *tasks.Intake }

func (c cancels) Handle(ctx context.Context, request es.Request[task.Order]) (es.Result, error) {
	return c.intake.Cancel(ctx, request)
}

func cancel(intake *tasks.Intake) Action {
	action := Command[CancelTask](cancels{intake}, taskReplyOf)
	operators := Command[cancelAnyTask](cancels{intake}, taskReplyOf)
	action.unservable = errors.Join(action.unservable, operators.unservable)
	own := action.prepare
	action.prepare = func(c Conditions, raw []byte) (prepared, error) {
		if c.principal.IsOperator() {
			return operators.prepare(c, raw)
		}
		return own(c, raw)
	}
	return action
}

type exportThread struct{ OnThread }

// Tasks returns tasks with their operations.
func Tasks(intake *tasks.Intake) Aggregate {
	return Aggregate{
		Name: "tasks", About: "Long work: many commands at once, the history of a thread, and commands whose answer is fetched later.",
		Operations: []Operation{
			{
				Path: "/tasks/import", Status: http.StatusAccepted, Summary: "Import commands",
				Description: "Handles each line as a command of its own: `{\"path\": \"/threads/post_message\", \"body\": {...}}`, where executor_id may be left out and means who asks. " +
					"Lines for the same thread or account are handled in their order. A line is applied once, whatever happens to the server. 16 MiB at most. " +
					"The inputs of unfinished tasks and the results of the last 7 days may take 256 MiB of an account, and 4 GiB of a tenant.",
				Do:         Action{answer: reflect.TypeFor[taskReply](), versioned: true},
				Stream:     importLines(intake),
				Rejections: []error{account.ErrAccountErased, tasks.ErrNoRoom},
				Without:    []string{IfMatch, Prefer},
			},
			{
				Path: "/tasks/export_thread", Status: http.StatusAccepted, Summary: "Export a thread",
				Description: "Writes the events of the thread as they are stored, one a line. Admins only.",
				Do:          export(intake),
				Rejections:  byAdmins,
				Without:     []string{IfMatch, Prefer},
			},
			{
				Path: "/tasks/cancel", Status: http.StatusAccepted, Summary: "Cancel a task",
				Description: "Ends a task before it is done. What it has done by then, and may be doing for a second more, stays. Its creator only, and operators, " +
					"who name the tenant of the task in the header X-Tenant-Code; it may be suspended.",
				Do:         cancel(intake),
				Operators:  true,
				Rejections: []error{task.ErrTaskNotFound, task.ErrTaskFinished},
				Without:    []string{Prefer},
			},
		},
		Readings: []Reading{
			{
				Path: "/tasks/{task_id}", Summary: "A task", Description: "How far a task is. Its creator only.",
				Media: mediaJSON, Answer: reflect.TypeFor[taskAnswer](), Rejections: []error{task.ErrTaskNotFound}, Serve: getTask(intake),
			},
			{
				Path: "/tasks/{task_id}/result", Summary: "The result of a task",
				Description: "Of an import: the rejected lines with their numbers and problems. Of an export: the events of the thread. Of a command: its answer, or its problem. One JSON a line; kept for 7 days. Its creator only.",
				Media:       mediaNDJSON, Rejections: []error{task.ErrTaskNotFound, tasks.ErrTaskNotFinished}, Serve: getResult(intake),
			},
		},
	}
}

// askedOf is who asks for a task.
func askedOf(c Conditions) (tasks.Asked, error) {
	creator, err := ident.Parse[ident.UserAccount](c.Caller.Executor)
	return tasks.Asked{Caller: c.Caller, Creator: creator, ForOthers: c.principal.NamesAnyone(), IdempotencyKey: c.IdempotencyKey}, err
}

// accepted is the reply to a request that has become a task.
func accepted(result es.Result, err error) (Reply, error) {
	if err != nil {
		return Reply{}, err
	}
	return ReplyOf(result, taskReplyOf(result)), nil
}

// importTimeout limits an import's upload.
const importTimeout = 5 * time.Minute

func importLines(intake *tasks.Intake) Streamer {
	return func(ctx context.Context, c Conditions, input io.Reader) (Reply, error) {
		asked, err := askedOf(c)
		if err != nil {
			return Reply{}, err
		}
		result, err := intake.Import(ctx, asked, input)
		return accepted(result, err)
	}
}

func export(intake *tasks.Intake) Action {
	return Resulting(func(ctx context.Context, c Conditions, body exportThread) (es.Result, error) {
		asked, err := askedOf(c)
		if err != nil {
			return es.Result{}, err
		}
		return intake.Export(ctx, asked, body.Thread)
	}, taskReplyOf)
}

// taskAnswer is a task.
type taskAnswer struct {
	TaskID    string `json:"task_id" doc:"The task." example:"01H42K4ABWQ5V2XQEP3A48VE0Z"`
	Kind      string `json:"kind" doc:"What it does." enum:"import,export_thread,command" example:"import"`
	Status    string `json:"status" doc:"How far it is; the last three are final." enum:"queued,running,succeeded,failed,cancelled" example:"running"`
	Done      uint64 `json:"done" doc:"Lines or events that are done, the rejected ones among them." example:"700"`
	Total     uint64 `json:"total" doc:"Lines or events; 0 if they have not been counted yet." example:"1000"`
	Rejected  uint64 `json:"rejected" doc:"Lines that were rejected." example:"3"`
	Message   string `json:"message" doc:"Why it failed; else empty." example:""`
	CreatedAt string `json:"created_at" doc:"When it was created: RFC 3339, in UTC." example:"2026-02-28T12:00:00.000000Z"`
	UpdatedAt string `json:"updated_at" doc:"When it changed last." example:"2026-02-28T12:00:07.000000Z"`
	CreatedBy string `json:"created_by" doc:"The user account that created it." example:"01H42K4ABWQ5V2XQEP3A48VE0Z"`
}

const timeLayout = "2006-01-02T15:04:05.000000Z"

// asksFor is the task that a request names.
func asksFor(r *http.Request) (task.ID, error) {
	id, err := ident.Parse[task.Task](chi.URLParam(r, "task_id"))
	if err != nil {
		err = task.ErrTaskNotFound // as everything that is no task
	}
	return id, err
}

func getTask(intake *tasks.Intake) func(http.ResponseWriter, *http.Request, Conditions, ident.UserID) error {
	return func(w http.ResponseWriter, r *http.Request, c Conditions, asker ident.UserID) error {
		id, err := asksFor(r)
		if err != nil {
			return err
		}
		found, err := intake.Find(r.Context(), c.Caller.Tenant, asker, id)
		if err != nil {
			return err
		}
		Reply{body: taskAnswer{
			TaskID: id.String(), Kind: string(found.Kind), Status: string(found.Status), Done: found.Done, Total: found.Total, Rejected: found.Rejected,
			Message: found.Message, CreatedAt: found.CreatedAt.Format(timeLayout), UpdatedAt: found.UpdatedAt.Format(timeLayout), CreatedBy: found.CreatedBy.String(),
		}}.write(w, http.StatusOK)
		return nil
	}
}

// partTimeout is how long a client may take to receive a part of a result.
const partTimeout = 30 * time.Second

func getResult(intake *tasks.Intake) func(http.ResponseWriter, *http.Request, Conditions, ident.UserID) error {
	return func(w http.ResponseWriter, r *http.Request, c Conditions, asker ident.UserID) error {
		id, err := asksFor(r)
		if err != nil {
			return err
		}
		parts, err := intake.Result(r.Context(), c.Caller.Tenant, asker, id)
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", mediaNDJSON)
		if r.Method == http.MethodHead {
			return nil
		}
		for part, err := range parts {
			if err != nil {
				return errors.Join(errCutShort, err)
			}
			// Where it can't be set, the server's holds.
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(partTimeout))
			if _, err := w.Write(part); err != nil {
				return nil // the client has gone
			}
		}
		return nil
	}
}

// errCutShort: a part of the answer has been sent, and the rest can't be read.
var errCutShort = errors.New("the answer was cut short")
