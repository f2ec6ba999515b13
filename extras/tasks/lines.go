package tasks

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"

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
	partLines      = 200
	maxFieldErrors = 8 // in the problem of a line

	source = "tasks" // is stored with events as the name of the program
)

// line returns the request that a line of an import is.
func (r *run) line(raw string, number uint64) rest.Prepared {
	if raw == erasure.Erased {
		return failed(account.ErrAccountErased)
	}
	command, err := readLine(raw)
	if err != nil {
		return failed(err)
	}
	command.IdempotencyKey = lineKey(r.ID, number)
	return r.request(command)
}

// request returns the request for a command, as the handler of HTTP does.
func (r *run) request(c Later) rest.Prepared {
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

func failed(err error) rest.Prepared {
	return rest.Prepared{Execute: func(context.Context) (rest.Reply, error) { return rest.Reply{}, err }}
}

// readLine reads a line of an import: an object with path and body.
func readLine(raw string) (line Later, err error) {
	members, ok := rest.MembersOf([]byte(raw))
	if !ok {
		return line, rest.NewProblem(http.StatusBadRequest, rest.Malformed, "the line must be one JSON object in UTF-8 and nothing else")
	}
	paths, bodies := members.Take("path"), members.Take("body")
	var invalid []rest.FieldError
	if len(paths) != 1 {
		invalid = append(invalid, rest.FieldError{Location: "line.path", Message: "must be given once"})
	} else if json.Unmarshal(paths[0], &line.Path) != nil {
		invalid = append(invalid, rest.FieldError{Location: "line.path", Message: "must be a string"})
	}
	if len(bodies) != 1 {
		invalid = append(invalid, rest.FieldError{Location: "line.body", Message: "must be given once"})
	}
	for _, unknown := range members {
		invalid = append(invalid, rest.FieldError{Location: "line." + unknown.Name, Message: "is not a field of a line"})
	}
	if len(invalid) > 0 {
		return line, rest.InvalidFields(invalid)
	}
	line.Body = bodies[0]
	return line, nil
}

// authorOf returns the user account that a line names as its executor; empty: none, or the line can't be read. A line
// that erases has no words, and must be readable once the key is destroyed.
func authorOf(raw string) string {
	line, _ := readLine(raw)
	if line.Path == erasure.Path {
		return ""
	}
	return rest.ExecutorOf(line.Body).String()
}

// execute returns the answer to a request, or the [rest.Problem] of its rejection. It fails if the outcome is unknown.
func (r *run) execute(ctx context.Context, request rest.Prepared) (result any, err error) {
	defer recovered(&err)
	ctx, cancel := context.WithTimeout(ctx, r.ports.Timeout)
	defer cancel()
	reply, failed := request.Execute(ctx)
	if failed == nil {
		return reply.Body, nil
	}
	problem := *rest.ProblemOf(failed)
	if es.KindOf(failed) == es.Inconsistent {
		r.ports.Log.ErrorContext(ctx, "a command of a task failed", "error", failed)
	} else if problem.Status >= http.StatusInternalServerError || errors.Is(failed, es.ErrConcurrentUpdate) {
		return nil, failed
	}
	problem.Errors = problem.Errors[:min(len(problem.Errors), maxFieldErrors)]
	return &problem, nil
}

// linesPart is some lines of the input.
type linesPart struct {
	first uint64   // the number of the first line
	lines []string // unchanged
}

// cut yields the parts of input. It ends after an error, which a client can be told.
func cut(input io.Reader) iter.Seq2[linesPart, error] {
	return func(yield func(linesPart, error) bool) {
		scanner := bufio.NewScanner(input)
		scanner.Buffer(nil, MaxLine+len("\r\n"))
		part, size, next := linesPart{first: 1}, 0, uint64(1)
		for ; scanner.Scan() && len(scanner.Bytes()) <= MaxLine; next++ {
			added := len(scanner.Bytes()) + 1
			if len(part.lines) == partLines || size > 0 && size+added > partBytes {
				if !yield(part, nil) {
					return
				}
				part, size = linesPart{first: next}, 0
			}
			part.lines, size = append(part.lines, scanner.Text()), size+added
		}
		err := scanner.Err()
		switch {
		case errors.Is(err, bufio.ErrTooLong) || len(scanner.Bytes()) > MaxLine:
			err = &ident.InvalidError{Field: fmt.Sprintf("line %d", next), Reason: fmt.Sprintf("must have at most %d bytes", MaxLine)}
		case errors.As(err, new(*http.MaxBytesError)):
			err = tooLarge
		case err != nil:
			err = malformedBody
		}
		if err != nil || len(part.lines) > 0 {
			yield(part, err)
		}
	}
}

// stored returns the part as it is stored, for [partOf].
func (p linesPart) stored() []byte {
	return fmt.Appendf(nil, "%d\n%s", p.first, strings.Join(p.lines, "\n"))
}

func partOf(stored []byte) (p linesPart) {
	first, lines, _ := strings.Cut(string(stored), "\n")
	p.first, _ = strconv.ParseUint(first, 10, 64) // stored has written it
	p.lines = strings.Split(lines, "\n")
	return p
}

// all yields the non-empty lines with their numbers.
func (p linesPart) all() iter.Seq2[uint64, string] {
	return func(yield func(uint64, string) bool) {
		for i, line := range p.lines {
			if line = strings.TrimSpace(line); line != "" && !yield(p.first+uint64(i), line) {
				return
			}
		}
	}
}
