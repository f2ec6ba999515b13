package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"
	"unicode/utf8"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/extras/erasure"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/interfaceadaptor/rest"
)

// source is stored with events as the name of the program.
const source = "tasks"

// Lines returns [Ports.Prepare] for the commands of the aggregates. It reads commands as the handler of HTTP does, and
// hands them to the same services. Commands with the same key are for the same aggregate; one without a key may be
// handled in any order. timeout limits a command.
func Lines(aggregates []rest.Aggregate, timeout time.Duration, log *slog.Logger) func(Line) (key string, handle func(context.Context) (Outcome, error)) {
	operations := map[string]rest.Operation{}
	for _, aggregate := range aggregates {
		for _, op := range aggregate.Operations {
			if op.IsOrdinary() {
				operations[op.Path] = op
			}
		}
	}
	return func(line Line) (string, func(context.Context) (Outcome, error)) {
		request, err := line.request(operations)
		return request.Aggregate, func(ctx context.Context) (Outcome, error) {
			if err != nil {
				return outcomeOf(ctx, log, nil, err)
			}
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			reply, err := request.Execute(ctx)
			return outcomeOf(ctx, log, reply.Body, err)
		}
	}
}

// request parses the command, which is one of the operations.
func (line Line) request(operations map[string]rest.Operation) (rest.Request, error) {
	if string(line.Raw) == erasure.Erased {
		return rest.Request{}, account.ErrAccountErased
	}
	path, body := line.Path, json.RawMessage(line.Body)
	if line.Raw != nil {
		var err error
		if path, body, err = readLine(line.Raw); err != nil {
			return rest.Request{}, err
		}
	}
	op, known := operations[path]
	if !known {
		return rest.Request{}, rest.NewProblem(http.StatusNotFound, rest.PathNotFound, "there is no command at this path; /docs tells which there are")
	}
	creator, err := ident.Parse[ident.UserAccount](line.Caller.Executor)
	if err != nil {
		return rest.Request{}, err
	}
	c := rest.Conditions{Caller: line.Caller, IfVersion: line.IfVersion, IdempotencyKey: line.IdempotencyKey, Principal: admission.Principal{
		Account: creator, Tenant: line.Caller.Tenant, Rights: []admission.Right{admission.Write}, ActsForOthers: line.ForOthers,
	}}
	c.Caller.Source = source + " " + path
	return op.Prepare(c, body)
}

// readLine reads a line of an import: an object with path and body.
func readLine(raw []byte) (path string, body json.RawMessage, err error) {
	malformed := func(detail string) error { return rest.NewProblem(http.StatusBadRequest, rest.Malformed, detail) }
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return "", nil, malformed("the line must be one JSON object in UTF-8 and nothing else")
	}
	object := json.NewDecoder(bytes.NewReader(raw))
	if start, _ := object.Token(); start != json.Delim('{') {
		return "", nil, malformed("the line must be a JSON object")
	}
	given := map[string][]json.RawMessage{}
	var unknown []rest.FieldError
	for object.More() { // without errors: raw is JSON
		token, _ := object.Token()
		name, _ := token.(string)
		var value json.RawMessage
		_ = object.Decode(&value)
		if given[name] = append(given[name], value); name != "path" && name != "body" {
			unknown = append(unknown, rest.FieldError{Location: "line." + name, Message: "is not a field of a line"})
		}
	}
	var invalid []rest.FieldError
	for _, name := range []string{"path", "body"} {
		if len(given[name]) != 1 {
			invalid = append(invalid, rest.FieldError{Location: "line." + name, Message: "must be given once"})
		} else if name == "path" && json.Unmarshal(given[name][0], &path) != nil {
			invalid = append(invalid, rest.FieldError{Location: "line.path", Message: "must be a string"})
		}
	}
	if invalid = append(invalid, unknown...); len(invalid) > 0 {
		return "", nil, rest.InvalidFields(invalid)
	}
	return path, given["body"][0], nil
}

// authorOf returns the user account that a line names as its executor; empty: none, or the line can't be read.
func authorOf(raw []byte) string {
	_, body, err := readLine(raw)
	if err != nil {
		return ""
	}
	return rest.ExecutorOf(body).String()
}

// maxFieldErrors limits the size of a problem in the result of a task.
const maxFieldErrors = 20

// outcomeOf converts an answer or an error. Errors that leave the outcome unknown are returned.
func outcomeOf(ctx context.Context, log *slog.Logger, answer any, failed error) (Outcome, error) {
	if failed == nil {
		body, err := json.Marshal(answer)
		return Outcome{Body: body}, err
	}
	problem := *rest.ProblemOf(failed)
	if es.KindOf(failed) == es.Inconsistent {
		log.ErrorContext(ctx, "a command of a task failed", "error", failed)
	} else if problem.Status >= http.StatusInternalServerError || errors.Is(failed, es.ErrConcurrentUpdate) {
		return Outcome{}, failed
	}
	problem.Errors = problem.Errors[:min(len(problem.Errors), maxFieldErrors)]
	body, err := json.Marshal(problem)
	return Outcome{Body: body, Rejected: problem.Detail}, err
}
