package graphql

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

func TestADocumentOfAClientThatHasLeftIsNotValidated(t *testing.T) {
	h := &Handler{presenter: presenter{slog.New(slog.DiscardHandler)}} // without an executor
	left, leave := context.WithCancel(t.Context())
	leave()
	_, refused := h.Begin(left, &graphql.RawParams{Query: `{ nothing }`})
	if refused == nil || refused.Errors[0].Extensions["code"] != CodeUnavailable {
		t.Errorf("got %+v", refused)
	}
}

// Hundreds of long documents would take much memory for the life of the program.
func TestLongDocumentsAreNotKept(t *testing.T) {
	documents := NewDocuments()
	for length, want := range map[int]bool{cachedDocument: true, cachedDocument + 1: false} {
		text := strings.Repeat(" ", length)
		documents.Add(t.Context(), text, &ast.QueryDocument{})
		if _, kept := documents.Get(t.Context(), text); kept != want {
			t.Errorf("a document of %d bytes is kept: %t", length, kept)
		}
	}
}
