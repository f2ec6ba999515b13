package erasure_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/threads/domain/account"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/thread/threadtest"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/extras/erasure"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/usecase/chat"
)

// A repeat may arrive after an upgrade, so the name and the content that it is recognised by must not change.
func TestTheContentOfAnErasureStaysWhatItIs(t *testing.T) {
	const body = `{"executor_id":"01H42K4ABWQ5V2XQEP3A48VE0Z"}`
	request, err := erasure.Operation(nil).Prepare(rest.Conditions{IdempotencyKey: "key"}, []byte(body))
	if err != nil || request.Name != "account.Erase" || request.Content != body {
		t.Errorf("%+v, %v", request, err)
	}
}

// Words that people may write in a command must not get to the aggregate, nor into the journal, as they are.
func TestEveryWordIsSealed(t *testing.T) {
	const clear = "what Ada wrote"
	words := map[reflect.Type]any{
		reflect.TypeFor[thread.Name](): writing.RecordedName(clear),
		reflect.TypeFor[thread.Text](): thread.RecordedText(clear),
	}
	wordless := []reflect.Type{
		reflect.TypeFor[thread.MemberID](), reflect.TypeFor[thread.MessageID](), reflect.TypeFor[thread.UserID](), reflect.TypeFor[thread.Role](),
		reflect.TypeFor[thread.Code](), reflect.TypeFor[bool](), reflect.TypeFor[time.Time](),
	}
	nothing := func(context.Context, es.AggregateID) (es.State[thread.Thread], error) {
		return es.State[thread.Thread]{}, nil
	}
	var handled handles
	service := newFixture(t).Commands(chat.Services{Threads: &handled}, nothing).Threads

	seen := map[reflect.Type]bool{}
	for _, step := range threadtest.Sample() {
		command := reflect.New(reflect.TypeOf(step.Command)).Elem()
		if seen[command.Type()] {
			continue
		}
		seen[command.Type()] = true
		for field, value := range command.Fields() {
			if word, is := words[field.Type]; is {
				value.Set(reflect.ValueOf(word))
			} else if !slices.Contains(wordless, field.Type) {
				t.Errorf("%s.%s is a %s: say here whether it has words, and seal them", command.Type(), field.Name, field.Type)
			}
		}
		request := es.Request[thread.Command]{Caller: es.Caller{Executor: "ada"}, ID: "thread", Command: command.Interface().(thread.Command)}
		if _, err := service.Handle(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%+v", handled.command); strings.Contains(got, clear) {
			t.Errorf("%s is not sealed: %s", command.Type(), got)
		}
	}
}

// handles keeps the last command.
type handles struct {
	chat.Service[thread.Command]
	command thread.Command
}

func (h *handles) Handle(_ context.Context, request es.Request[thread.Command]) (es.Result, error) {
	h.command = request.Command
	return es.Result{}, nil
}

// Without a key, no text can be sealed: who sends one after the erasure is told so.
func TestOperationsWithTextsTellOfErasure(t *testing.T) {
	all := erasure.Operations([]rest.Aggregate{rest.Threads(nil), rest.Accounts(nil)}, nil)
	doc := rest.Document(all, rest.Settings{})
	for _, aggregate := range all {
		for _, op := range aggregate.Operations {
			_, body, _ := strings.Cut(doc.Paths[op.Path].Post.RequestBody.Content[rest.MediaJSON].Schema.Ref, "schemas/")
			fields := doc.Components.Schemas.Map()[body].Properties
			hasText := fields["name"] != nil || fields["text"] != nil
			if told := slices.Contains(op.Rejections, error(account.ErrAccountErased)); told != (hasText || op.Path == "/accounts/erase") {
				t.Errorf("%s tells of it: %v; it has a text: %v", op.Path, told, hasText)
			}
		}
	}
}

func TestNobodyIsErasedWhileErasureIsOff(t *testing.T) {
	var off *erasure.Keyring
	operation := erasure.Operation(off.Commands(chat.Services{}, nil).Accounts)
	request, err := operation.Prepare(rest.Conditions{}, []byte(`{"executor_id":"01H42K4ABWQ5V2XQEP3A48VE0Z"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := request.Execute(t.Context()); !errors.Is(err, erasure.ErrErasureOff) || errors.Is(err, account.ErrAccountErased) {
		t.Error(err)
	}
}

// A key is destroyed before its account is erased, so that no failure leaves readable texts of an erased account.
func TestAnErasureBeginsWithTheKey(t *testing.T) {
	f := newFixture(t)
	sealed := f.seal("ada", "1", words)
	accounts := f.Commands(chat.Services{Accounts: failing{}}, nil).Accounts
	erase := es.Request[account.Command]{Caller: es.Caller{Executor: "ada"}, ID: "ada", Command: account.Erase{}}
	for range 2 { // a repeat gets further than the key, too
		if _, err := accounts.Handle(t.Context(), erase); !errors.Is(err, es.ErrUnavailable) {
			t.Fatal(err)
		}
		f.wantOpened(sealed, erasure.Erased)
	}
	register := es.Request[account.Command]{Caller: erase.Caller, ID: "ada", Command: account.Register{Name: writing.RecordedName("Ada")}}
	if _, err := accounts.Handle(t.Context(), register); !errors.Is(err, account.ErrAccountErased) {
		t.Errorf("another command: %v", err)
	}
}

// failing is a service whose store does not answer.
type failing struct{ chat.Service[account.Command] }

func (failing) Handle(context.Context, es.Request[account.Command]) (es.Result, error) {
	return es.Result{}, es.ErrUnavailable
}
