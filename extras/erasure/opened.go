package erasure

import (
	"context"
	"fmt"
	"sync"

	gqlgen "github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"

	"example.com/threads/domain/account"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/usecase/query"
)

// Answers has GraphQL answers opened: all sealed names and texts of an answer at once, whatever was selected. Those of
// erased people become [Erased].
func (k *Keyring) Answers(e *executor.Executor) {
	e.AroundResponses(func(ctx context.Context, next gqlgen.ResponseHandler) *gqlgen.Response {
		answer := next(ctx)
		if answer == nil || len(answer.Data) == 0 {
			return answer
		}
		opened, err := k.OpenJSON(ctx, graphql.PrincipalOf(ctx).Tenant, answer.Data)
		if err != nil {
			gqlgen.AddError(ctx, graphql.Failure(err))
			return &gqlgen.Response{Errors: gqlgen.GetErrors(ctx), Data: []byte("null")}
		}
		answer.Data = opened
		return answer
	})
}

// Reader returns a reader of rows that also erases what no seal protects: the messages that a person wrote before
// ERASURE=on. The sender is known only here.
func (k *Keyring) Reader(rows query.Reader) query.Reader { return openedRows{rows, k} }

type openedRows struct {
	query.Reader
	keys *Keyring
}

func (o openedRows) Message(ctx context.Context, viewer query.Viewer, id thread.MessageID) (query.Message, error) {
	row, err := o.Reader.Message(ctx, viewer, id)
	if err == nil {
		err = o.keys.Open(ctx, viewer.Tenant, []Text{{row.Sender.String(), &row.Text}})
	}
	return row, err
}

func (o openedRows) Messages(ctx context.Context, tenant es.Tenant, threads []thread.ID, page query.Range) (map[thread.ID]query.Page[query.Message], error) {
	found, err := o.Reader.Messages(ctx, tenant, threads, page)
	if err != nil {
		return nil, err
	}
	var texts []Text
	for _, page := range found {
		for i := range page.Items {
			texts = append(texts, Text{page.Items[i].Sender.String(), &page.Items[i].Text})
		}
	}
	return found, o.keys.Open(ctx, tenant, texts)
}

var erasedEvent = eventjson.Accounts().Events.EventType(account.Erased{})

// Broker opens the sealed texts of events before they are published; those of erased people become [Erased]. An event
// whose key is missing by mistake is refused, which parks only its aggregate. Once an account's erasure is published,
// no text of its owner is published in clear any more.
func (k *Keyring) Broker(next func(context.Context, es.Described) error) func(context.Context, es.Described) error {
	var opened sync.RWMutex // held for reading while an event with opened texts is published
	return func(ctx context.Context, event es.Described) error {
		if k != nil && event.AggregateType == account.AggregateType && event.Type == erasedEvent {
			// The key was destroyed before the event was stored; see [Keyring.Commands]. It leaves the cache after the
			// answers to all events that were opened with it.
			opened.Lock()
			k.keys.Remove(about(event.Tenant, event.AggregateID))
			opened.Unlock()
		}
		opened.RLock()
		defer opened.RUnlock()
		data, err := k.OpenJSON(ctx, event.Tenant, event.Data)
		switch {
		case err != nil && es.KindOf(err) == es.Internal:
			return fmt.Errorf("nobody has been asked: %w: %w", projection.ErrRefused, err)
		case err != nil:
			return err
		}
		event.Data = data
		return next(ctx, event)
	}
}
