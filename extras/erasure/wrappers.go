package erasure

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"

	gqlgen "github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/query"
)

// Threads reads the latest state of a thread.
type Threads func(context.Context, es.AggregateID) (es.State[thread.Thread], error)

// Commands returns services that seal names and texts with their executor's key, and destroy the key with the account.
func (k *Keyring) Commands(services chat.Services, threads Threads) chat.Services {
	if k != nil {
		services.Threads = sealing[thread.Command]{services.Threads, func(ctx context.Context, r *es.Request[thread.Command]) error {
			return k.sealThread(ctx, r, threads)
		}}
	}
	services.Accounts = sealing[account.Command]{services.Accounts, k.sealAccount}
	return services
}

// sealing is a service whose requests are sealed first, or rejected.
type sealing[C any] struct {
	chat.Service[C]
	seal func(context.Context, *es.Request[C]) error
}

func (s sealing[C]) Handle(ctx context.Context, request es.Request[C]) (es.Result, error) {
	if err := s.seal(ctx, &request); err != nil {
		return es.Result{}, err
	}
	return s.Service.Handle(ctx, request)
}

// sealThread seals a command on a thread. The thread's name keeps its seal: giving it again is no change, whoever does.
func (k *Keyring) sealThread(ctx context.Context, r *es.Request[thread.Command], threads Threads) (err error) {
	switch c := r.Command.(type) { //nolint:gochecksumtype // the others have no words, which TestEveryWordIsSealed checks
	case thread.Create:
		c.Name, err = seal(ctx, k, r, r.ID, c.Name, writing.RecordedName)
		r.Command = c
	case thread.Rename:
		c.Name, err = k.sealNewName(ctx, r, c.Name, threads)
		r.Command = c
	case thread.PostMessage:
		c.Text, err = seal(ctx, k, r, c.Message.String(), c.Text, thread.RecordedText)
		r.Command = c
	case thread.EditMessage:
		c.Text, err = seal(ctx, k, r, c.Message.String(), c.Text, thread.RecordedText)
		r.Command = c
	}
	return err
}

// sealAccount seals a command on an account. Nobody can be erased while erasure is off.
//
// The key of an erased account is destroyed first. If the rest fails, nobody can read the texts any more, commands of
// the account are rejected, and a repeat of the command closes it.
func (k *Keyring) sealAccount(ctx context.Context, r *es.Request[account.Command]) (err error) {
	switch c := r.Command.(type) {
	case account.Register:
		c.Name, err = seal(ctx, k, r, r.ID, c.Name, writing.RecordedName)
		r.Command = c
	case account.Rename:
		c.Name, err = seal(ctx, k, r, r.ID, c.Name, writing.RecordedName)
		r.Command = c
	case account.Close: // no words
	case account.Erase:
		return k.Destroy(ctx, r.Caller.Tenant, r.ID)
	}
	return err
}

// seal seals the words of a request, which belong to place, with the key of who writes them.
func seal[C any, W fmt.Stringer](ctx context.Context, k *Keyring, r *es.Request[C], place string, words W, recorded func(string) W) (W, error) {
	sealed, err := k.Seal(ctx, r.Caller.Tenant, r.Caller.Executor, place, words.String())
	if err == nil {
		err = DigestContent(ctx, k, r)
	}
	return recorded(sealed), err
}

// sealNewName seals a thread's new name: the one that it has stays as it is.
func (k *Keyring) sealNewName(ctx context.Context, r *es.Request[thread.Command], name writing.Name, threads Threads) (writing.Name, error) {
	known, err := threads(ctx, es.AggregateID{Tenant: r.Caller.Tenant, Type: thread.AggregateType, ID: r.ID})
	if err != nil {
		return name, err
	}
	sealed, err := seal(ctx, k, r, r.ID, name, writing.RecordedName)
	before, unreadable := k.OpenOne(ctx, r.Caller.Tenant, known.Value.Name().String())
	if unreadable == nil && before == name.String() {
		return known.Value.Name(), err
	}
	return sealed, err
}

// DigestContent replaces the content that a repeat is recognised by: its hash in a receipt must not tell the words. The
// digest can't be computed without the executor's key. keys is nil if erasure is off.
func DigestContent[C any](ctx context.Context, keys *Keyring, r *es.Request[C]) error {
	if keys == nil || r.IdempotencyKey == "" {
		return nil
	}
	key, err := keys.own(ctx, r.Caller.Tenant, r.Caller.Executor)
	if err != nil {
		return err
	}
	digest := key.sum("digest", about(r.Caller.Tenant, r.Caller.Executor), r.Content)
	r.FormerContent, r.Content = r.Content, "digest "+hex.EncodeToString(digest)
	return nil
}

// ErrErasureOff: a person can't be erased, because texts are not sealed.
var ErrErasureOff = ident.Conflict("erasure_off", "texts are not sealed here, so that nobody can be erased; ask those who run the service for ERASURE=on")

// Path is the path of the command that erases an account.
const Path = "/accounts/erase"

type eraseAccount struct{ rest.By }

// withTexts are the paths of commands with texts, which are sealed.
var withTexts = []string{"/threads/create", "/threads/rename", "/threads/post_message", "/threads/edit_message", "/accounts/register", "/accounts/rename"}

// Operations adds to the operations of chat what erases an account, and what an erased account is told. accounts are
// those of [Keyring.Commands].
func Operations(of []rest.Aggregate, accounts chat.Service[account.Command]) []rest.Aggregate {
	for i := range of {
		for j, op := range of[i].Operations {
			if slices.Contains(withTexts, op.Path) {
				of[i].Operations[j].Rejections = append(slices.Clip(op.Rejections), account.ErrAccountErased)
			}
		}
		if of[i].Name == "accounts" {
			of[i].Operations = append(of[i].Operations, Operation(accounts))
		}
	}
	return of
}

// Operation returns what erases an account.
func Operation(accounts chat.Service[account.Command]) rest.Operation {
	return rest.Operation{
		Path: Path, Summary: "Erase an account",
		Description: "Forgets the executor for good. Within seconds every text and name that they ever wrote is shown as `[erased]`, to everybody and everywhere, and their account is closed. Versions and order stay. It works for user accounts that never registered, too, and only with `ERASURE=on`.",
		Do:          rest.Command(accounts, rest.AccountAnswerOf, func(b eraseAccount) es.Request[account.Command] { return b.OnAccount(account.Erase{}) }),
		Rejections:  []error{account.ErrAccountErased, ErrErasureOff},
		Without:     []string{rest.IfMatch}, // it can't be rejected once the key is destroyed
	}
}

// Answers has all sealed names and texts of a GraphQL answer opened at once. Those of erased people become [Erased].
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

// Reader returns a reader of rows that erases unsealed messages of erased people, whose senders are known only here.
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
