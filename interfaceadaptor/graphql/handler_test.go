package graphql

import (
	"context"
	"log/slog"
	"testing"

	"github.com/99designs/gqlgen/graphql"
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
