package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"unicode/utf8"

	"example.com/threads/domain/account"
	"example.com/threads/es"
	"example.com/threads/extras/erasure"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/interfaceadaptor/rest"
)

// source is stored with events as the name of the program.
const source = "tasks"

// line returns the request that a line of an import is.
func (r *run) line(raw string, number uint64) rest.Request {
	if raw == erasure.Erased {
		return failed(account.ErrAccountErased)
	}
	path, body, err := readLine([]byte(raw))
	if err != nil {
		return failed(err)
	}
	return r.request(Later{Path: path, Body: body, IdempotencyKey: lineKey(r.ID, number)})
}

// request returns the request for a command, as the handler of HTTP does.
func (r *run) request(c Later) rest.Request {
	op, known := r.operations[c.Path]
	if !known {
		return failed(rest.NewProblem(http.StatusNotFound, rest.PathNotFound, "there is no command at this path; /docs tells which there are"))
	}
	conditions := rest.Conditions{Caller: r.caller, IfVersion: c.IfVersion, IdempotencyKey: c.IdempotencyKey, Principal: admission.Principal{
		Account: r.CreatedBy, Tenant: r.Tenant, Rights: []admission.Right{admission.Write}, ActsForOthers: r.Request.ForOthers,
	}}
	conditions.Caller.Source = source + " " + c.Path
	request, err := op.Prepare(conditions, c.Body)
	if err != nil {
		return failed(err)
	}
	return request
}

// failed returns the request that fails.
func failed(err error) rest.Request {
	return rest.Request{Execute: func(context.Context) (rest.Reply, error) { return rest.Reply{}, err }}
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

// outcome is the result of a command: its answer, or the problem of its rejection, as JSON.
type outcome struct {
	body     []byte
	rejected string // for people: the reason of the rejection; empty: it was accepted
}

// execute executes a request. It fails if the outcome is unknown.
func (r *run) execute(ctx context.Context, request rest.Request) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, r.ports.Timeout)
	defer cancel()
	reply, failed := request.Execute(ctx)
	if failed == nil {
		body, err := json.Marshal(reply.Body)
		return outcome{body: body}, err
	}
	problem := *rest.ProblemOf(failed)
	if es.KindOf(failed) == es.Inconsistent {
		r.ports.Log.ErrorContext(ctx, "a command of a task failed", "error", failed)
	} else if problem.Status >= http.StatusInternalServerError || errors.Is(failed, es.ErrConcurrentUpdate) {
		return outcome{}, failed
	}
	problem.Errors = problem.Errors[:min(len(problem.Errors), maxFieldErrors)]
	body, err := json.Marshal(problem)
	return outcome{body, problem.Detail}, err
}
