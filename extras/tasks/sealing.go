package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"example.com/threads/domain/account"
	"example.com/threads/es"
	"example.com/threads/extras/erasure"
	"example.com/threads/interfaceadaptor/rest"
)

// Clients' requests and answers contain people's texts, so parts are stored sealed with the key of the task's creator.
// An export is stored as it is in the journal, where each author's texts are sealed already. Without a keyring, parts
// are stored unsealed.
//
// Lines of an import can be in the name of other accounts than its creator's. These lines are also sealed with the key
// of their author, in the input and in the result, so that an erasure of the author erases them before the task
// expires.

// putSealed stores parts of a file, sealed with its creator's key.
func (s Store) putSealed(ctx context.Context, file es.File, first uint64, parts ...[]byte) error {
	for i, part := range parts {
		if s.Keys == nil || len(part) == 0 {
			continue
		}
		sealed, err := s.Keys.Seal(ctx, file.Tenant, file.Owner, fmt.Sprintf("%s %d", file.Name, first+uint64(i)), string(part))
		if errors.Is(err, erasure.ErrErased) {
			return account.ErrAccountErased
		}
		if err != nil {
			return err
		}
		parts[i] = []byte(sealed)
	}
	return s.put(ctx, file, first, parts...)
}

// unseal opens a part: as a whole, or the texts in it. A part of an erased creator is [account.ErrAccountErased].
func (s Store) unseal(ctx context.Context, tenant es.Tenant, part []byte) ([]byte, error) {
	if !erasure.IsSealed(string(part)) {
		return s.Keys.OpenJSON(ctx, tenant, part)
	}
	opened, err := s.Keys.OpenOne(ctx, tenant, string(part))
	if err == nil && opened == erasure.Erased {
		err = account.ErrAccountErased
	}
	return []byte(opened), err
}

// erasedLine replaces a line of an erased author.
var erasedLine = []byte(erasure.Erased)

// sealOthers seals the lines of a part that are in the name of others.
func (i *Intake) sealOthers(ctx context.Context, asked rest.Conditions, file string, number uint64, p linesPart) (linesPart, error) {
	if i.Keys == nil || !asked.Principal.NamesAnyone() {
		return p, nil
	}
	lines := bytes.Split(p, []byte("\n")) // the first one is the number of the first line and has no author
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(linesAtOnce)
	for n, line := range lines {
		if erasure.IsSealed(string(bytes.TrimSpace(line))) { // not by this program: never open it
			lines[n] = append([]byte("\uFFFD"), line...)
			continue
		}
		group.Go(func() (err error) {
			lines[n], err = i.sealLine(groupCtx, asked.Caller, fmt.Sprintf("%s %d %d", file, number, n), line)
			return err
		})
	}
	err := group.Wait()
	return bytes.Join(lines, []byte("\n")), err
}

// sealLine seals a line with its author's key, if that is not the creator; erasedLine if the author is erased.
func (s Store) sealLine(ctx context.Context, creator es.Caller, place string, line []byte) ([]byte, error) {
	author := authorOf(line)
	if author == "" || author == creator.Executor {
		return line, nil
	}
	sealed, err := s.Keys.Seal(ctx, creator.Tenant, author, place, string(line))
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
	lines := strings.Split(string(p), "\n")
	var texts []erasure.Text
	for n := range lines {
		if erasure.IsSealed(lines[n]) {
			texts = append(texts, erasure.Text{Value: &lines[n]})
		}
	}
	err := r.ports.Keys.Open(ctx, r.Tenant, texts)
	return linesPart(strings.Join(lines, "\n")), err
}

// sealRejected seals a rejected line if it is in the name of another account.
func (r *run) sealRejected(ctx context.Context, line *rejectedLine) error {
	request, isJSON := line.Request.(json.RawMessage)
	if !isJSON || r.ports.Keys == nil || !r.Request.ForOthers {
		return nil
	}
	sealed, err := r.ports.sealLine(ctx, r.caller, fmt.Sprintf("%s %d", r.file(resultFile).Name, line.Line), request)
	if !bytes.Equal(sealed, request) {
		line.Request, line.Sealed = nil, string(sealed)
	}
	return err
}

// openRejected opens the lines of a result that sealRejected sealed.
func (s Store) openRejected(ctx context.Context, tenant es.Tenant, result []byte) ([]byte, error) {
	if !bytes.Contains(result, []byte(`"sealed":`)) {
		return result, nil
	}
	var lines []rejectedLine
	for raw := range bytes.Lines(result) {
		var request json.RawMessage
		line := rejectedLine{Request: &request}
		if err := json.Unmarshal(raw, &line); err != nil {
			return nil, fmt.Errorf("read a rejected line: %w", err)
		}
		lines = append(lines, line)
	}
	var texts []erasure.Text
	for n := range lines {
		texts = append(texts, erasure.Text{Value: &lines[n].Sealed})
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
