package rest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/extras/tasks"
	"example.com/threads/interfaceadaptor/admission"
)

// Lines has the commands of tasks handled: it reads them as the handler of HTTP does, and hands them to the same
// services. It is safe for concurrent use.
type Lines struct {
	operations map[string]Operation
	source     string
	timeout    time.Duration
	log        *slog.Logger
}

var _ tasks.Commands = (*Lines)(nil)

// NewLines returns the commands of the aggregates. source is the program's name, timeout limits a command.
func NewLines(aggregates []Aggregate, source string, timeout time.Duration, log *slog.Logger) *Lines {
	l := &Lines{operations: map[string]Operation{}, source: source, timeout: timeout, log: log}
	for _, op := range operations(aggregates) {
		if op.later() {
			l.operations[op.Path] = op
		}
	}
	return l
}

// Prepare implements [tasks.Commands].
func (l *Lines) Prepare(line tasks.Line) (key string, handle func(context.Context) (tasks.Outcome, error)) {
	request, err := l.prepare(line)
	return request.key, func(ctx context.Context) (tasks.Outcome, error) {
		if err != nil {
			return l.outcome(ctx, Reply{}, err)
		}
		ctx, cancel := context.WithTimeout(ctx, l.timeout)
		defer cancel()
		answer, err := request.execute(ctx)
		return l.outcome(ctx, answer, err)
	}
}

// malformedLine is the error of a line that is no command.
type malformedLine struct{ problem *Problem }

func (e malformedLine) Error() string { return e.problem.Detail }

func (l *Lines) prepare(line tasks.Line) (prepared, error) {
	if line.Erased {
		return prepared{}, account.ErrAccountErased
	}
	path, body := line.Path, json.RawMessage(line.Body)
	if line.Raw != nil {
		var err error
		if path, body, err = readLine(line.Raw); err != nil {
			return prepared{}, err
		}
	}
	op, known := l.operations[path]
	switch {
	case !known:
		return prepared{}, malformedLine{newProblem(http.StatusNotFound, pathNotFound, "there is no command at this path; /docs tells which there are")}
	case len(body) > MaxBody:
		return prepared{}, malformedLine{requestTooLarge()}
	}
	creator, err := ident.Parse[ident.UserAccount](line.Caller.Executor)
	if err != nil {
		return prepared{}, err
	}
	principal := admission.Principal{Account: creator, Tenant: line.Caller.Tenant, Rights: []admission.Right{admission.Write}, ActsForOthers: line.ForOthers}
	c := Conditions{principal: principal, Caller: line.Caller, IfVersion: line.IfVersion, IdempotencyKey: line.IdempotencyKey}
	c.Caller.Source = l.source + " " + path
	return op.Do.prepare(c, body)
}

// readLine reads a line of an import: an object with path and body.
func readLine(raw []byte) (path string, body json.RawMessage, err error) {
	if !isJSON(raw) {
		return "", nil, malformedLine{malformed("the line must be one JSON object in UTF-8 and nothing else")}
	}
	members, isObject := membersOf(raw)
	if !isObject {
		return "", nil, malformedLine{malformed("the line must be a JSON object")}
	}
	var invalid invalidBody
	paths, bodies := members.take("path"), members.take("body")
	if len(paths) != 1 {
		invalid = append(invalid, FieldError{"line.path", "must be given once"})
	} else if path, err = textOf(paths[0]); err != nil {
		invalid = append(invalid, FieldError{"line.path", err.Error()})
	}
	if len(bodies) != 1 {
		invalid = append(invalid, FieldError{"line.body", "must be given once"})
	} else {
		body = bodies[0]
	}
	for _, unknown := range members {
		invalid = append(invalid, FieldError{"line." + unknown.name, "is not a field of a line"})
	}
	if len(invalid) > 0 {
		return "", nil, invalid
	}
	return path, body, nil
}

// AuthorOf implements [tasks.AuthorOf].
func AuthorOf(raw []byte) string {
	_, body, err := readLine(raw)
	if err != nil {
		return ""
	}
	members, _ := membersOf(body)
	var author ident.UserID
	if named := members.take(executorField); len(named) != 1 || readID(&author, named[0]) != nil {
		return ""
	}
	return author.String()
}

// maxFieldErrors limits the size of a problem in the result of a task.
const maxFieldErrors = 20

// outcome converts an answer or an error. Errors that leave the outcome unknown are returned.
func (l *Lines) outcome(ctx context.Context, answer Reply, err error) (tasks.Outcome, error) {
	var line malformedLine
	var problem *Problem
	switch kind := es.KindOf(err); {
	case err == nil:
		body, err := json.Marshal(answer.body)
		return tasks.Outcome{Body: body}, err
	case errors.As(err, &line):
		problem = line.problem
	case errors.As(err, new(*admission.Refusal)), errors.As(err, new(invalidBody)):
		problem = problemOf(err)
	case kind == es.Unavailable, kind == es.Canceled, kind == es.Internal, errors.Is(err, es.ErrConcurrentUpdate):
		return tasks.Outcome{}, err
	default:
		if kind == es.Inconsistent {
			l.log.ErrorContext(ctx, "a command of a task failed", "error", err)
		}
		problem = problemOf(err)
	}
	if len(problem.Errors) > maxFieldErrors {
		problem.Errors = problem.Errors[:maxFieldErrors]
	}
	body, err := json.Marshal(problem)
	return tasks.Outcome{Body: body, Rejected: problem.Detail}, err
}
