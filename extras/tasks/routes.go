package tasks

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/interfaceadaptor/rest"
)

const (
	// MaxImport is the maximum size of an import, in bytes.
	MaxImport = 16 << 20

	importTimeout = 5 * time.Minute  // for the upload
	partTimeout   = 30 * time.Second // for a client to receive a part of a result

	timeLayout        = "2006-01-02T15:04:05.000000Z"
	prefer            = "Prefer"
	preferenceApplied = "Preference-Applied"
	respondAsync      = "respond-async"
)

// TaskReply is the answer to every request that becomes a task.
type TaskReply struct {
	TaskID string `json:"task_id" doc:"The task." example:"01H42K4ABWQ5V2XQEP3A48VE0Z"`
}

// accepted is the reply to what has become a task.
func accepted(r es.Result, err error) (rest.Reply, error) {
	return rest.ReplyOf(r, TaskReply{r.Key.ID}), err
}

type cancelTask struct {
	rest.By
	Task task.ID `json:"task_id" doc:"The task."`
}

type exportThread struct {
	rest.By
	Thread thread.ID `json:"thread_id" doc:"The thread."`
}

// Operations returns what clients can ask of tasks. log receives why a result was cut short.
func Operations(s Store, log *slog.Logger) rest.Aggregate {
	unread := []string{rest.IfMatch, rest.IdempotencyKey, rest.CorrelationID, rest.Traceparent}
	return rest.Aggregate{
		Name: "tasks", About: "Long work: many commands at once, the history of a thread, and commands whose answer is fetched later.",
		Operations: []rest.Operation{
			{
				Path: "/tasks/export_thread", Status: http.StatusAccepted, Summary: "Export a thread",
				Description: "Writes the events of the thread as they are stored, one a line, without the addresses of clients. Admins only.",
				Do: rest.Doing[TaskReply](func(ctx context.Context, c rest.Conditions, body exportThread) (rest.Reply, error) {
					return accepted(s.Export(ctx, c, body.Thread))
				}),
				Rejections: []error{thread.ErrThreadNotFound, thread.ErrThreadDeleted, thread.ErrNotMember, thread.ErrNotAdmin},
				Without:    []string{rest.IfMatch},
			},
			{
				Path: "/tasks/cancel", Status: http.StatusAccepted, Summary: "Cancel a task",
				Description: "Ends a task before it is done. What it has done by then, and may be doing for a second more, stays. Its creator only, and operators, " +
					"who name the tenant of the task in the header X-Tenant-Code; it may be suspended.",
				Do: rest.Doing[TaskReply](func(ctx context.Context, c rest.Conditions, body cancelTask) (rest.Reply, error) {
					return accepted(s.Cancel(ctx, c, body.Task))
				}),
				Operators:  true,
				Rejections: []error{task.ErrTaskNotFound, task.ErrTaskFinished},
			},
			{
				Path: "/tasks/import", Summary: "Import commands",
				Description: "Handles each line as a command of its own: `{\"path\": \"/threads/post_message\", \"body\": {...}}`, where executor_id may be left out and means who asks. " +
					"Lines for the same thread or account are handled in their order. A line is applied once, whatever happens to the server. 16 MiB at most. " +
					"The inputs of unfinished tasks and the results of the last 7 days may take 256 MiB of an account, and 4 GiB of a tenant.",
				Served: &rest.Served{Serve: s.serveImport, Lines: `{"path":"/threads/create","body":{"name":"release planning"}}`, Answer: reflect.TypeFor[TaskReply]()},
				Status: http.StatusAccepted,
				Rejections: []error{
					tooLarge, malformedBody, &ident.InvalidError{Field: "line 7", Reason: "must have at most 67584 bytes"},
					account.ErrAccountErased, ErrNoRoom,
				},
				Without: []string{rest.IfMatch},
			},
			{
				Path: "/tasks/{task_id}", Summary: "A task", Description: "How far a task is. Its creator only.",
				Served:     &rest.Served{Serve: s.serveTask, Answer: reflect.TypeFor[taskAnswer]()},
				Rejections: []error{task.ErrTaskNotFound}, Without: unread,
			},
			{
				Path: "/tasks/{task_id}/result", Summary: "The result of a task",
				Description: "Of an import: the rejected lines with their numbers and problems. Of an export: the events of the thread. Of a command: its answer, or its problem. One JSON a line; kept for 7 days. Its creator only.",
				Served:      &rest.Served{Serve: s.serveResult(log)},
				Rejections:  []error{task.ErrTaskNotFound, ErrTaskNotFinished}, Without: unread,
			},
		},
	}
}

var (
	tooLarge      = rest.NewProblem(http.StatusRequestEntityTooLarge, rest.BodyTooLarge, "the body must have at most 16777216 bytes; send the rest as another import")
	malformedBody = rest.NewProblem(http.StatusBadRequest, rest.Malformed, "the body did not arrive whole")
)

func (s Store) serveImport(w http.ResponseWriter, r *http.Request, c rest.Conditions) error {
	if r.ContentLength > MaxImport {
		return tooLarge
	}
	release, err := admission.Of(r).Hold(partsAtOnce * (partBytes + MaxLine))
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithTimeout(r.Context(), importTimeout)
	defer cancel()
	deadlines, until := http.NewResponseController(w), time.Now().Add(importTimeout)
	_, _ = deadlines.SetReadDeadline(until), deadlines.SetWriteDeadline(until) // or else the server's hold
	reply, err := accepted(s.Import(ctx, c, http.MaxBytesReader(w, r.Body, MaxImport)))
	if err == nil {
		reply.Write(w, http.StatusAccepted)
	}
	return err
}

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

func (s Store) serveTask(w http.ResponseWriter, r *http.Request, c rest.Conditions) error {
	found, err := s.Find(r.Context(), c.Caller, r.PathValue("task_id"))
	if err == nil {
		rest.Reply{Body: taskAnswer{
			TaskID: found.ID.String(), Kind: string(found.Kind), Status: string(found.Status), Done: found.Done, Total: found.Total, Rejected: found.Rejected,
			Message: found.Message, CreatedAt: found.CreatedAt.Format(timeLayout), UpdatedAt: found.UpdatedAt.Format(timeLayout), CreatedBy: found.CreatedBy.String(),
		}}.Write(w, http.StatusOK)
	}
	return err
}

func (s Store) serveResult(log *slog.Logger) func(http.ResponseWriter, *http.Request, rest.Conditions) error {
	return func(w http.ResponseWriter, r *http.Request, c rest.Conditions) error {
		found, err := s.Find(r.Context(), c.Caller, r.PathValue("task_id"))
		if err != nil {
			return err
		}
		parts, err := s.Result(r.Context(), found)
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", rest.MediaLines)
		begun := false
		for part, err := range parts {
			release := func() {}
			if err == nil {
				release, err = admission.Of(r).Hold(len(part))
			}
			switch {
			case err != nil && !begun:
				return err
			case err != nil:
				log.WarnContext(r.Context(), "an answer was cut short", "path", r.URL.Path, "error", err)
				panic(http.ErrAbortHandler) // so that the client sees it, too
			}
			// Where it can't be set, the server's holds.
			_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(partTimeout))
			_, err := w.Write(part)
			release()
			if err != nil {
				return nil // the client has gone
			}
			begun = true
		}
		return nil
	}
}

// prefersLater matches the header of a client that does not want to wait for the command.
var prefersLater = regexp.MustCompile(`(?i)(^|,)\s*` + respondAsync + `\s*([;,]|$)`)

// Accept makes a task of a command whose client prefers that, and leaves other requests as they are.
func (s Store) Accept(header http.Header, op rest.Operation, r rest.Prepared) rest.Prepared {
	if op.IsOrdinary() && prefersLater.MatchString(strings.Join(header.Values(prefer), ",")) {
		r.Execute = func(ctx context.Context) (rest.Reply, error) {
			reply, err := accepted(s.Later(ctx, op.Path, r))
			reply.Status, reply.Header[preferenceApplied] = http.StatusAccepted, respondAsync
			return reply, err
		}
	}
	return r
}

// Describe adds to the OpenAPI document what [Store.Accept] does with the commands of the aggregates.
func Describe(aggregates []rest.Aggregate) func(*huma.OpenAPI) {
	return func(doc *huma.OpenAPI) {
		for _, aggregate := range aggregates {
			for _, op := range aggregate.Operations {
				if !op.IsOrdinary() {
					continue
				}
				described := doc.Paths[op.Path].Post
				described.Parameters = append(described.Parameters, &huma.Param{
					Name: prefer, In: "header", Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{respondAsync}},
					Description: "With respond-async (RFC 7240) the command is checked and becomes a task: the answer is 202 with its task_id, and the task's result is the command's answer or its problem. Other preferences are ignored.",
				})
				headers := maps.Clone(described.Responses[strconv.Itoa(cmp.Or(op.Status, http.StatusOK))].Headers)
				headers[preferenceApplied] = &huma.Param{Description: "The preference that was followed.", Example: respondAsync, Schema: &huma.Schema{Type: huma.TypeString}}
				described.Responses[strconv.Itoa(http.StatusAccepted)] = &huma.Response{
					Description: "With Prefer: respond-async: it is a task now.", Headers: headers,
					Content: map[string]*huma.MediaType{rest.MediaJSON: {Schema: doc.Components.Schemas.Schema(reflect.TypeFor[TaskReply](), true, "")}},
				}
				rest.DescribeProblem(doc, described, ErrNoRoom)
			}
		}
	}
}
