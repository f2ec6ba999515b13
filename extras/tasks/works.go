package tasks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/extras/erasure"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/usecase/chat"
)

const (
	linesAtOnce  = 16 // for different aggregates
	lineAttempts = 5
	exportBytes  = 256 << 10 // of a part of the result
	// partTime is how long the part in progress is completed when the tenant is suspended. A complete part is never
	// repeated; the lines of an incomplete one are, and are recognised only while their receipts exist.
	partTime = time.Second
)

// importLines handles the remaining parts of the input. A part may be repeated: each line has its idempotency key.
func (r *run) importLines(ctx context.Context) error {
	for r.Parts < r.Request.Parts {
		input, err := r.ports.part(ctx, r.file(inputFile), r.Parts)
		if err != nil {
			return err
		}
		if err := r.importPart(ctx, partOf(input)); err != nil {
			return err
		}
	}
	return nil
}

// RejectedLine is a line of the result.
type RejectedLine struct {
	Line    uint64 `json:"line"`
	Request any    `json:"request,omitempty"` // as sent; a string if it is not JSON
	Sealed  string `json:"sealed,omitempty"`  // of another's line: as in the input, instead of Request
	Problem any    `json:"problem"`           // a [rest.Problem]
}

// importPart handles the lines of a part: those for one aggregate in order, others concurrently.
func (r *run) importPart(ctx context.Context, part linesPart) error {
	type line struct {
		RejectedLine
		raw     string
		request rest.Prepared
		result  any
	}
	var all []*line
	var sealed []erasure.Text // lines in the name of others
	for number, raw := range part.all() {
		next := &line{RejectedLine: RejectedLine{Line: number}, raw: raw}
		if r.ports.Keys != nil && r.Request.ForOthers && erasure.IsSealed(raw) {
			next.Sealed = raw
			sealed = append(sealed, erasure.Text{Value: &next.raw})
		}
		all = append(all, next)
	}
	if err := r.ports.Keys.Open(ctx, r.Tenant, sealed); err != nil {
		return err
	}
	byKey := map[string][]*line{}
	for _, next := range all {
		next.request = r.line(next.raw, next.Line)
		key := cmp.Or(next.request.Aggregate, fmt.Sprint(next.Line))
		byKey[key] = append(byKey[key], next)
	}
	begun := time.Now()
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(linesAtOnce)
	for _, ofOne := range byKey {
		group.Go(func() error {
			for _, next := range ofOne {
				var err error
				if next.result, err = r.handle(groupCtx, begun, next.request); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	var rejected []RejectedLine
	for _, line := range all {
		if problem, isRejected := line.result.(*rest.Problem); isRejected {
			line.Problem = problem
			if line.Sealed == "" {
				line.Request = requestOf(line.raw)
			}
			rejected = append(rejected, line.RejectedLine)
		}
	}
	// Even without rejections: a killed attempt may have stored some.
	err := r.store(ctx, encodeLines(rejected...))
	if errors.Is(err, ErrNoRoom) { // the lines are handled all the same: nobody must send them again
		r.count(len(all), len(rejected))
		return fmt.Errorf("lines %d to %d were handled, and the result does not tell which of them were rejected; the lines after them were not handled: %w",
			part.first, part.first+uint64(len(part.lines))-1, err)
	}
	if err != nil {
		return err
	}
	r.count(len(all), len(rejected))
	return r.report(ctx)
}

// store stores the next part of the result, sealed. If the creator is erased, it only says so: the task may have done
// that.
func (r *run) store(ctx context.Context, lines []byte) error {
	err := r.ports.putSealed(ctx, r.file(resultFile), r.Parts, lines)
	if errors.Is(err, account.ErrAccountErased) {
		err = r.ports.put(ctx, r.file(resultFile), r.Parts, []byte(erasure.Erased))
	}
	return err
}

// requestOf returns a line for the result. Control characters are replaced: in JSON they would take six times the room.
func requestOf(raw string) any {
	if utf8.ValidString(raw) && json.Valid([]byte(raw)) {
		return json.RawMessage(raw)
	}
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\t' {
			return utf8.RuneError
		}
		return c
	}, raw)
}

// lineKey is the idempotency key of a line's command.
func lineKey(id task.ID, line uint64) string { return fmt.Sprintf("task-%s-%d", id, line) }

// handle executes a request as execute does, again for a while if the outcome is unknown, but not after a fault of the
// program. partTime after begun, the beginning of the part, it stops if the tenant is suspended.
func (r *run) handle(ctx context.Context, begun time.Time, request rest.Prepared) (any, error) {
	for failures := 0; ; failures++ {
		if time.Since(begun) > partTime {
			if err := r.checkTenant(ctx); err != nil {
				return nil, err
			}
		}
		result, err := r.execute(ctx, request)
		if err == nil || es.KindOf(err) == es.Internal || failures+1 == lineAttempts {
			return result, err
		}
		if err := es.Wait(ctx, es.Backoff(200*time.Millisecond, time.Second, failures)); err != nil {
			return nil, err
		}
	}
}

// handleCommand handles the task's only command. The result is the answer or the problem.
func (r *run) handleCommand(ctx context.Context) error {
	input, err := r.ports.part(ctx, r.file(inputFile), 0)
	if err != nil {
		return err
	}
	var command Later
	if err := json.Unmarshal(input, &command); err != nil {
		return fmt.Errorf("read the command of the task: %w", err)
	}
	result, err := r.handle(ctx, time.Now(), r.request(command))
	if err != nil {
		return err
	}
	problem, isRejected := result.(*rest.Problem)
	err = r.store(ctx, encodeLines(result))
	switch {
	case err != nil && !errors.Is(err, ErrNoRoom):
		return err
	case isRejected:
		r.count(1, 1)
		return ident.Conflict("command_rejected", problem.Detail) // is not retried
	case err != nil:
		err = fmt.Errorf("the command was done, but its answer is not stored: %w", err)
	}
	r.count(1, 0)
	return err
}

// exportThread writes the remaining events as they are in the journal, without the addresses of clients. The creator
// must still be an Admin.
func (r *run) exportThread(ctx context.Context) error {
	id, err := ident.Parse[thread.Thread](r.Request.Subject)
	if err != nil {
		return err
	}
	if err := r.ports.checkExport(ctx, r.Tenant, r.CreatedBy, id); err != nil {
		return err
	}
	key := chat.ThreadKey(r.Tenant, id)
	if r.Total == 0 {
		head, err := r.ports.Events.Head(ctx, key)
		if err != nil {
			return err
		}
		r.Total = head.Version
	}
	var content []byte
	events := 0 // in content
	for event, err := range r.ports.Events.Entries(ctx, key, r.Done, r.Total) {
		if err != nil {
			return fmt.Errorf("read the events of the thread: %w", err)
		}
		content = append(append(content, event.Public()...), '\n')
		if events++; len(content) < exportBytes && event.SeqNr < r.Total {
			continue
		}
		if err := r.ports.put(ctx, r.file(resultFile), r.Parts, content); err != nil {
			return err
		}
		r.count(events, 0)
		if err := r.report(ctx); err != nil {
			return err
		}
		content, events = content[:0], 0
	}
	return nil
}
