package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
	"example.com/threads/extras/erasure"
)

// Lines of an import can be in the name of other accounts than its creator's. These lines are also sealed with the key
// of their author, in the input and in the result, so that an erasure of the author erases them before the task
// expires.

// erasedLine replaces a line of an erased author.
var erasedLine = []byte(erasure.Erased)

// sealOthers seals the lines of a part that are in the name of others.
func (i *Intake) sealOthers(ctx context.Context, asked Asked, file string, number uint64, p linesPart) (linesPart, error) {
	if i.Keys == nil || !asked.ForOthers {
		return p, nil
	}
	lines := bytes.Split(p, []byte("\n")) // the first one is the number of the first line and has no author
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(linesAtOnce)
	for n, line := range lines {
		author := authorOf(line)
		switch {
		case erasure.IsSealed(string(bytes.TrimSpace(line))): // not by this program: never open it
			lines[n] = append([]byte("\uFFFD"), line...)
		case author != "" && author != asked.Caller.Executor:
			group.Go(func() (err error) {
				lines[n], err = i.sealLine(groupCtx, asked.Caller.Tenant, author, fmt.Sprintf("%s %d %d", file, number, n), line)
				return err
			})
		}
	}
	err := group.Wait()
	return bytes.Join(lines, []byte("\n")), err
}

// sealLine seals a line with its author's key; erasedLine if the author is erased.
func (s Store) sealLine(ctx context.Context, tenant es.Tenant, author, place string, line []byte) ([]byte, error) {
	sealed, err := s.Keys.Seal(ctx, tenant, author, place, string(line))
	if errors.Is(err, erasure.ErrErased) {
		return erasedLine, nil
	}
	return []byte(sealed), err
}

// openOthers opens the lines of a part that sealOthers sealed. Lines of erased authors become erasedLine.
func (r *run) openOthers(ctx context.Context, p linesPart) (linesPart, error) {
	if r.ports.Keys == nil || !r.Request.ForOthers {
		return p, nil
	}
	lines := bytes.Split(p, []byte("\n"))
	opened := make([]string, len(lines))
	var texts []erasure.Text
	for n, line := range lines {
		if opened[n] = string(line); erasure.IsSealed(opened[n]) {
			texts = append(texts, erasure.Text{Value: &opened[n]})
		}
	}
	if err := r.ports.Keys.Open(ctx, r.Tenant, texts); err != nil {
		return nil, err
	}
	for n := range lines {
		lines[n] = []byte(opened[n])
	}
	return bytes.Join(lines, []byte("\n")), nil
}

// sealRejected seals a rejected line if it is in the name of another account.
func (r *run) sealRejected(ctx context.Context, line *rejectedLine) error {
	request, isJSON := line.Request.(json.RawMessage)
	if !isJSON || r.ports.Keys == nil || !r.Request.ForOthers {
		return nil
	}
	author := authorOf(request)
	if author == "" || author == r.CreatedBy.String() {
		return nil
	}
	sealed, err := r.ports.sealLine(ctx, r.Tenant, author, fmt.Sprintf("%s %d", resultOf(r.ID), line.Line), request)
	line.Request, line.Sealed = nil, string(sealed)
	return err
}

// openRejected opens the lines of a result that sealRejected sealed.
func (s Store) openRejected(ctx context.Context, tenant es.Tenant, result []byte) ([]byte, error) {
	if !bytes.Contains(result, []byte(`"sealed":`)) {
		return result, nil
	}
	var lines []rejectedLine
	var texts []erasure.Text
	for raw := range bytes.Lines(result) {
		var line struct {
			rejectedLine
			Request json.RawMessage `json:"request"`
		}
		if err := json.Unmarshal(raw, &line); err != nil {
			return nil, fmt.Errorf("read a rejected line: %w", err)
		}
		line.rejectedLine.Request = line.Request
		lines = append(lines, line.rejectedLine)
	}
	for n := range lines {
		if lines[n].Sealed != "" {
			texts = append(texts, erasure.Text{Value: &lines[n].Sealed})
		}
	}
	if err := s.Keys.Open(ctx, tenant, texts); err != nil {
		return nil, err
	}
	for n := range lines {
		if opened := lines[n].Sealed; opened != "" {
			lines[n].Request, lines[n].Sealed = requestOf([]byte(opened)), ""
		}
	}
	return encodeRejected(lines)
}

func encodeRejected(lines []rejectedLine) ([]byte, error) {
	var result bytes.Buffer
	encoder := json.NewEncoder(&result)
	encoder.SetEscapeHTML(false)
	for _, line := range lines {
		if err := encoder.Encode(line); err != nil {
			return nil, err
		}
	}
	return result.Bytes(), nil
}
