package rest

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/thread/threadtest"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/tests/sealed"
)

// asked performs each operation that has a command and a body of its own, and passes the resulting request to see.
func asked(t *testing.T, see func(op Operation, r describedRequest)) {
	t.Helper()
	const id = `"01H42K4ABWQ5V2XQEP3A48VE0Z"`
	values := map[string]string{
		"executor_id": id, "thread_id": id, "user_account_id": id, "message_id": id, "name": `" tea "`, "text": `"hello"`, "role": `"Admin"`,
	}
	var last describedRequest
	for _, op := range slices.Concat(
		Threads(taker[thread.Command]{last: &last}).Operations, Accounts(taker[account.Command]{last: &last}).Operations,
	) {
		if !op.isVersioned() {
			continue
		}
		if _, promised := contract[op.Path]; !promised {
			t.Fatalf("%s is missing: add it to the table contract of these tests", op.Path)
		}
		fields := map[string]json.RawMessage{}
		for name := range strings.FieldsSeq(contract[op.Path].body) {
			fields[name] = json.RawMessage(values[name])
		}
		raw, err := json.Marshal(fields)
		if err == nil {
			_, err = op.Do.run(t.Context(), Conditions{IdempotencyKey: "key"}, raw)
		}
		if err != nil {
			t.Fatalf("%s: %v", op.Path, err)
		}
		see(op, last)
	}
}

func TestEveryCommandHasAnOperation(t *testing.T) {
	served := map[string][]string{}
	asked(t, func(_ Operation, r describedRequest) {
		aggregate, _, _ := strings.Cut(r.name, ".")
		served[aggregate] = append(served[aggregate], sealed.Name(r.command))
	})
	// Clients can't withdraw a member: only a process manager sends this command.
	served["thread"] = append(served["thread"], sealed.Name(thread.Withdraw{}))
	// Its operation is extras/erasure's: only texts that are sealed can be erased. // extra:erasure {
	served["account"] = append(served["account"], sealed.Name(account.Erase{})) // extra:erasure }
	for aggregate, names := range served {
		sealed.Check(t, aggregate+" commands that an operation stands for", sealed.Types(t, "example.com/threads/domain/"+aggregate, "name"), names)
	}
}

// The document lists the rejections of each operation. They must be exactly those of the domain.
func TestRejectionsAreDescribed(t *testing.T) {
	met := map[string]map[string]bool{}
	meet := func(name string, err error) {
		var rejection *ident.Rejection
		if met[name] == nil {
			met[name] = map[string]bool{}
		}
		if errors.As(err, &rejection) {
			met[name][rejection.Code()] = true
		}
	}
	for _, step := range threadtest.Sample() {
		meet(thread.CommandName(step.Command), step.Err)
	}
	tea := writing.RecordedName("tea")
	registered := account.Account{}.Apply(account.Registered{Name: tea})
	for _, state := range []account.Account{
		{}, registered, registered.Apply(account.Closed{}),
		registered.Apply(account.Erased{}), // extra:erasure
	} {
		for _, c := range []account.Command{account.Register{Name: tea}, account.Rename{Name: tea}, account.Close{}} {
			meet(account.CommandName(c), second(account.Decide(state, c)))
		}
	}
	// A creation generates the id of its thread, so it can't exist.
	delete(met["thread.Create"], thread.ErrThreadExists.Code())
	asked(t, func(op Operation, r describedRequest) {
		sealed.Check(t, "rejections of "+op.Path, slices.Sorted(maps.Keys(met[r.name])), codesOf(op.Rejections))
	})
}

func second[T any](_ T, err error) error { return err }

// A repeat may arrive after an upgrade of the program, so a request's content, by which it is recognised, must not
// change. When a body gets another field, requests without it must keep the content that they have here.
func TestTheContentOfRequestsStaysWhatItIs(t *testing.T) {
	const executor = "01H42K4ABWQ5V2XQEP3A48VE0Z"
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
		"account.Register":        `{"executor_id":"ID","name":"tea"}`,
		"account.Rename":          `{"executor_id":"ID","name":"tea"}`,
		"account.Close":           `{"executor_id":"ID"}`,
	}
	asked(t, func(op Operation, r describedRequest) {
		checkPassed(t, op, r)
		if got := strings.ReplaceAll(r.content, executor, "ID"); got != want[r.name] {
			t.Errorf("%s: the content of %s is %s, want %q; add that of a new command to this test", op.Path, r.name, got, want[r.name])
		}
		if r.begins != (r.name == "thread.Create") || r.caller != (es.Caller{Executor: executor}) || !r.begins && r.id != executor || r.begins && r.id == "" {
			t.Errorf("%s: %+v", op.Path, r)
		}
	})
}
