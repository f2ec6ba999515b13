package rest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/thread/threadtest"
	"example.com/threads/tests/sealed"
	"example.com/threads/usecase"
	"example.com/threads/usecase/command"
)

// taker remembers the last request.
type taker struct {
	nobody
	request command.Request[thread.Command]
}

func (k *taker) Handle(_ context.Context, r command.Request[thread.Command]) (command.Result, error) {
	k.request = r
	return command.Result{About: map[string]string{}}, nil
}

// asked performs each operation that stands for a command with a body of its own, and gives the request to see.
func asked(t *testing.T, see func(op operation, r command.Request[thread.Command])) {
	t.Helper()
	const id = `"01H42K4ABWQ5V2XQEP3A48VE0Z"`
	values := map[string]string{
		"executor_id": id, "thread_id": id, "user_account_id": id, "message_id": id, "name": `" tea "`, "text": `"hello"`, "role": `"Admin"`,
	}
	k := &taker{}
	for _, op := range operations(k) {
		if !op.perform.versioned {
			continue
		}
		fields := map[string]json.RawMessage{}
		for name := range strings.FieldsSeq(contract[op.path].body) {
			fields[name] = json.RawMessage(values[name])
		}
		raw, err := json.Marshal(fields)
		if err == nil {
			_, err = op.perform.run(t.Context(), conditions{idempotencyKey: "key"}, raw)
		}
		if err != nil {
			t.Fatalf("%s: %v", op.path, err)
		}
		see(op, k.request)
	}
}

func TestEveryCommandHasAnOperation(t *testing.T) {
	var served []string
	asked(t, func(_ operation, r command.Request[thread.Command]) { served = append(served, sealed.Name(r.Command)) })
	sealed.Check(t, "commands that an operation stands for", sealed.Types(t, "example.com/threads/domain/thread", "name"), served)
}

// Clients read in the document what an operation can be rejected for: what the domain says, no less and no more.
func TestRejectionsAreDescribed(t *testing.T) {
	met := map[string]map[string]bool{}
	for _, step := range threadtest.Sample() {
		name := thread.CommandName(step.Command)
		if met[name] == nil {
			met[name] = map[string]bool{}
		}
		var rejection *ident.Rejection
		if errors.As(step.Err, &rejection) {
			met[name][rejection.Code()] = true
		}
	}
	// A creation makes the id of its thread, so that there is none yet.
	delete(met["thread.Create"], thread.ErrThreadExists.Code())
	asked(t, func(op operation, r command.Request[thread.Command]) {
		var described []string
		for _, err := range op.rejections {
			described = append(described, err.(*ident.Rejection).Code()) //nolint:errorlint // it is the very value
		}
		sealed.Check(t, "rejections of "+op.path, slices.Sorted(maps.Keys(met[r.Name])), described)
	})
}

// A repeat can come after the program has been replaced by its next version: what a request is recognised by must stay what it is.
// When a body gets another field, requests without it keep the content that they have here.
func TestTheContentOfRequestsStaysWhatItIs(t *testing.T) {
	const id = "01H42K4ABWQ5V2XQEP3A48VE0Z"
	want := map[string]string{
		"thread.Create":           `{"executor_id":"ID","name":"tea"}`,
		"thread.Rename":           `{"executor_id":"ID","name":"tea","thread_id":"ID"}`,
		"thread.Delete":           `{"executor_id":"ID","thread_id":"ID"}`,
		"thread.AddMember":        `{"executor_id":"ID","role":"Admin","thread_id":"ID","user_account_id":"ID"}`,
		"thread.RemoveMember":     `{"executor_id":"ID","thread_id":"ID","user_account_id":"ID"}`,
		"thread.ChangeMemberRole": `{"executor_id":"ID","role":"Admin","thread_id":"ID","user_account_id":"ID"}`,
		"thread.PostMessage":      `{"executor_id":"ID","text":"hello","thread_id":"ID"}`,
		"thread.EditMessage":      `{"executor_id":"ID","message_id":"ID","text":"hello","thread_id":"ID"}`,
		"thread.DeleteMessage":    `{"executor_id":"ID","message_id":"ID","thread_id":"ID"}`,
	}
	asked(t, func(op operation, r command.Request[thread.Command]) {
		if got := strings.ReplaceAll(r.Content, id, "ID"); got != want[r.Name] {
			t.Errorf("%s: %s is %s, want %s", op.path, r.Name, got, want[r.Name])
		}
		if r.Begins != (r.Name == "thread.Create") || r.Caller != (usecase.Caller{Executor: id}) || !r.Begins && r.ID != id || r.Begins && r.ID == "" {
			t.Errorf("%s: %+v", op.path, r)
		}
	})
}
