package tasks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/threads/domain/account"
	"example.com/threads/es"
	"example.com/threads/extras/erasure"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/rest"
)

// Kept is how long inputs and results are kept after the request. Inputs are deleted once their task is finished.
const Kept = 7 * 24 * time.Hour

// The files of a task.
const (
	inputFile  = "input"
	resultFile = "result"
)

func fileOf(tenant es.Tenant, creator string, id task.ID, what string) es.File {
	return es.File{Tenant: tenant, Owner: creator, Name: "task-" + id.String() + "-" + what, Expires: id.ULID().Timestamp().Add(Kept)}
}

// put stores parts of a file. It fails with [ErrNoRoom], and stores nothing, if there is no room for them.
func (s Store) put(ctx context.Context, file es.File, first uint64, parts ...[]byte) error {
	err := s.Events.PutParts(ctx, file, first, parts...)
	if errors.Is(err, es.ErrSpoolFull) {
		err = ErrNoRoom
	}
	return err
}

// putSealed stores parts sealed with the key of the file's creator. Texts in an export are sealed, as in the journal.
func (s Store) putSealed(ctx context.Context, file es.File, first uint64, parts ...[]byte) error {
	for i, part := range parts {
		if len(part) == 0 { // says nothing, and would not be empty any more
			continue
		}
		sealed, err := s.Keys.Seal(ctx, file.Tenant, file.Owner, fmt.Sprintf("%s %d", file.Name, first+uint64(i)), string(part))
		if err != nil {
			return err
		}
		parts[i] = []byte(sealed)
	}
	return s.put(ctx, file, first, parts...)
}

// part reads a part of a file, and opens it if it is sealed as a whole. It fails if its creator is erased, or with
// [ErrExpired].
func (s Store) part(ctx context.Context, file es.File, number uint64) ([]byte, error) {
	content, exists, err := s.Events.Part(ctx, file.Tenant, file.Name, number)
	switch {
	case err != nil:
		return nil, err
	case !exists:
		return nil, ErrExpired
	}
	opened, err := s.Keys.OpenOne(ctx, file.Tenant, string(content))
	if err == nil && opened == erasure.Erased {
		err = account.ErrAccountErased
	}
	return []byte(opened), err
}

// sealOthers seals the lines in the name of others with their authors' keys, too: an erasure of an author erases them
// before the task expires, also in the result. If the author is erased already, the line becomes [erasure.Erased].
func (s Store) sealOthers(ctx context.Context, asked rest.Conditions, file string, p linesPart) error {
	if s.Keys == nil || !asked.Principal.NamesAnyone() {
		return nil
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(linesAtOnce)
	for n, line := range p.lines {
		author := authorOf(line)
		switch {
		case erasure.IsSealed(strings.TrimSpace(line)): // not by this program: never open it
			p.lines[n] = "\uFFFD" + line
		case author != "" && author != asked.Caller.Executor:
			group.Go(func() (err error) {
				p.lines[n], err = s.Keys.Seal(groupCtx, asked.Caller.Tenant, author, fmt.Sprintf("%s line %d", file, p.first+uint64(n)), line)
				if errors.Is(err, account.ErrAccountErased) {
					p.lines[n], err = erasure.Erased, nil
				}
				return err
			})
		}
	}
	return group.Wait()
}

func (s Store) openRejected(ctx context.Context, tenant es.Tenant, result []byte) ([]byte, error) {
	var lines []RejectedLine
	for decoder := json.NewDecoder(bytes.NewReader(result)); decoder.More(); {
		line := RejectedLine{Request: new(json.RawMessage), Problem: new(json.RawMessage)}
		if err := decoder.Decode(&line); err != nil {
			return nil, fmt.Errorf("read a rejected line: %w", err)
		}
		if line.Sealed != "" {
			opened, err := s.Keys.OpenOne(ctx, tenant, line.Sealed)
			if err != nil {
				return nil, err
			}
			line.Request, line.Sealed = requestOf(opened), ""
		}
		lines = append(lines, line)
	}
	return encodeLines(lines...), nil
}

func encodeLines[T any](lines ...T) []byte {
	var result bytes.Buffer
	encoder := json.NewEncoder(&result)
	encoder.SetEscapeHTML(false)
	for _, line := range lines {
		_ = encoder.Encode(line) // never fails: requests are JSON or text, answers and problems were made for it
	}
	return result.Bytes()
}
