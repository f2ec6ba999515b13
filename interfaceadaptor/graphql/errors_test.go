package graphql

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
)

// inconsistent is an error as the event store returns it.
type inconsistent struct{ error }

func (inconsistent) Class() string { return "inconsistent" }

// TestEveryKindHasACode tries all kinds of errors and every rejection that the use cases know.
func TestEveryKindHasACode(t *testing.T) {
	codes := []string{codeNotFound, codeForbidden, codeBadInput, codeBehind, CodeTooComplex, CodeUnavailable, codeInternal}
	samples := append([]error{thread.ErrThreadNotFound, thread.ErrNotMember, thread.ErrNameUnchanged}, es.ErrConcurrentUpdate, es.ErrKeyReused, es.ErrUnavailable, es.ErrBehind,
		&ident.InvalidError{Field: "name", Reason: "must be something"}, &es.VersionMismatchError{Expected: 1, Current: 2},
		context.Canceled, context.DeadlineExceeded, inconsistent{errors.New("head and journal contradict each other")}, errors.New("the password of the database is hunter2"))
	seen := map[es.Kind]bool{}
	for _, sample := range samples {
		kind := es.KindOf(sample)
		seen[kind] = true
		answer, told := answers[kind]
		if !told {
			t.Errorf("%v is of kind %d, which has no answer", sample, kind)
			continue
		}
		out := &strings.Builder{}
		shown := presenter{slog.New(slog.NewTextHandler(out, nil))}.present(t.Context(), resolverError{fmt.Errorf("deep inside: %w", sample)})
		code, _ := shown.Extensions["code"].(string)
		if code != answer.code || !strings.Contains(strings.Join(codes, " "), code) {
			t.Errorf("clients see %v as %q", sample, code)
		}
		if code == codeInternal && (strings.Contains(shown.Message, sample.Error()) || !strings.Contains(out.String(), sample.Error())) {
			t.Errorf("%v: clients see %q, the log has %q", sample, shown.Message, out)
		}
	}
	for kind := range es.Inconsistent + 1 {
		if !seen[kind] {
			t.Errorf("no error of kind %d was tried", kind)
		}
	}
	for kind, want := range map[es.Kind]string{
		es.Invalid: codeBadInput, es.NotFound: codeNotFound, es.Forbidden: codeForbidden, es.Behind: codeBehind,
		es.Unavailable: CodeUnavailable, es.Internal: codeInternal,
	} {
		if answers[kind].code != want {
			t.Errorf("clients see kind %d as %s, want %s", kind, answers[kind].code, want)
		}
	}
}
