package tasks

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/extras/erasure"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/interfaceadaptor/rest"
)

const (
	// MaxLine is the maximum length of a line of the input, in bytes.
	MaxLine = 66 << 10

	// A worker executes a part of the input as a whole, so parts are small: at most a second's work on most stores. A
	// part of the result must fit into an item of DynamoDB, even if all lines are rejected and sealed.
	partBytes      = 16 << 10
	partLines      = 500
	maxFieldErrors = 20 // in the problem of a line

	source = "tasks" // is stored with events as the name of the program
)

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
	conditions := rest.Conditions{Caller: r.caller, IfVersion: c.IfVersion, IdempotencyKey: c.IdempotencyKey, Principal: admission.Principal{
		Account: r.CreatedBy, Tenant: r.Tenant, Rights: []admission.Right{admission.Write}, ActsForOthers: r.Request.ForOthers,
	}}
	conditions.Caller.Source = source + " " + c.Path
	for _, aggregate := range r.ports.Commands {
		at := slices.IndexFunc(aggregate.Operations, func(op rest.Operation) bool { return op.Path == c.Path && op.IsOrdinary() })
		if at < 0 {
			continue
		}
		request, err := aggregate.Operations[at].Prepare(conditions, c.Body)
		if err != nil {
			return failed(err)
		}
		return request
	}
	return failed(rest.NewProblem(http.StatusNotFound, rest.PathNotFound, "there is no command at this path; /docs tells which there are"))
}

func failed(err error) rest.Request {
	return rest.Request{Execute: func(context.Context) (rest.Reply, error) { return rest.Reply{}, err }}
}

// readLine reads a line of an import: an object with path and body.
func readLine(raw []byte) (path string, body json.RawMessage, err error) {
	members, ok := rest.MembersOf(raw)
	if !ok {
		return "", nil, rest.NewProblem(http.StatusBadRequest, rest.Malformed, "the line must be one JSON object in UTF-8 and nothing else")
	}
	paths, bodies := members.Take("path"), members.Take("body")
	var invalid []rest.FieldError
	if len(paths) != 1 {
		invalid = append(invalid, rest.FieldError{Location: "line.path", Message: "must be given once"})
	} else if json.Unmarshal(paths[0], &path) != nil {
		invalid = append(invalid, rest.FieldError{Location: "line.path", Message: "must be a string"})
	}
	if len(bodies) != 1 {
		invalid = append(invalid, rest.FieldError{Location: "line.body", Message: "must be given once"})
	}
	for _, unknown := range members {
		invalid = append(invalid, rest.FieldError{Location: "line." + unknown.Name, Message: "is not a field of a line"})
	}
	if len(invalid) > 0 {
		return "", nil, rest.InvalidFields(invalid)
	}
	return path, bodies[0], nil
}

// authorOf returns the user account that a line names as its executor; empty: none, or the line can't be read.
func authorOf(raw []byte) string {
	_, body, _ := readLine(raw)
	return rest.ExecutorOf(body).String()
}

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

// linesPart is some lines of the input: the number of the first line, a newline, and the unchanged lines.
type linesPart []byte

// cut yields the parts of input. It ends after an error, which a client can be told.
func cut(input io.Reader) iter.Seq2[linesPart, error] {
	return func(yield func(linesPart, error) bool) {
		scanner := bufio.NewScanner(input)
		scanner.Buffer(nil, MaxLine)
		next, lines, number := begin(1), 0, 0
		for scanner.Scan() {
			number++
			next = append(append(next, scanner.Bytes()...), '\n')
			if lines++; len(next) >= partBytes || lines >= partLines {
				if !yield(next, nil) {
					return
				}
				next, lines = begin(number+1), 0
			}
		}
		err := scanner.Err()
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			err = &ident.InvalidError{Field: fmt.Sprintf("line %d", number+1), Reason: fmt.Sprintf("must have at most %d bytes", MaxLine)}
		case errors.As(err, new(*http.MaxBytesError)):
			err = tooLarge
		case err != nil:
			err = malformedBody
		}
		if err != nil || lines > 0 {
			yield(next, err)
		}
	}
}

func begin(number int) linesPart { return append(strconv.AppendInt(nil, int64(number), 10), '\n') }

// lines yields the non-empty lines with their numbers.
func (p linesPart) lines() iter.Seq2[uint64, []byte] {
	return func(yield func(uint64, []byte) bool) {
		first, rest, _ := bytes.Cut(p, []byte("\n"))
		number, _ := strconv.ParseUint(string(first), 10, 64) // cut has written it
		for line := range bytes.SplitSeq(bytes.TrimSuffix(rest, []byte("\n")), []byte("\n")) {
			if line = bytes.TrimSpace(line); len(line) > 0 && !yield(number, line) {
				return
			}
			number++
		}
	}
}

func (p linesPart) count() (n uint64) {
	for range p.lines() {
		n++
	}
	return n
}
