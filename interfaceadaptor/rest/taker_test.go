package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
)

// describedRequest is the last request that a service received, for commands of any aggregate.
type describedRequest struct {
	command           any
	caller            es.Caller
	id, name, content string
	begins            bool
}

// taker stores the last request.
type taker[C any] struct {
	nobody[C]
	last *describedRequest
}

func (k taker[C]) Handle(_ context.Context, r es.Request[C]) (es.Result, error) {
	*k.last = describedRequest{r.Command, r.Caller, r.ID, r.Name, r.Content, r.Begins}
	return es.Result{About: map[string]string{}}, nil
}

// nobody fails.
type nobody[C any] struct{}

func (nobody[C]) Handle(context.Context, es.Request[C]) (es.Result, error) {
	return es.Result{}, errors.New("nobody is there")
}

func (nobody[C]) Snapshot(context.Context, es.Caller, string) (uint64, error) {
	return 0, errors.New("nobody is there")
}

// run decodes and executes a request.
func (p Action) run(ctx context.Context, c Conditions, raw []byte) (Reply, error) {
	request, err := p.prepare(c, raw)
	if err != nil {
		return Reply{}, err
	}
	return request.Execute(ctx)
}

// checkPassed checks the request that an operation became: its content must have a value for every field of the body,
// and all these values must be in the command, or be the aggregate's id.
func checkPassed(t *testing.T, op Operation, r describedRequest) {
	t.Helper()
	shape, err := shapeOf(op.Do.body)
	content := map[string]string{}
	if err := errors.Join(err, json.Unmarshal([]byte(r.content), &content)); err != nil {
		t.Fatal(err)
	}
	passed := []string{r.id}
	for _, value := range reflect.ValueOf(r.command).Fields() {
		passed = append(passed, fmt.Sprint(plain(value)))
	}
	for _, field := range shape {
		switch value := content[field.name]; {
		case value == "":
			t.Errorf("%s: give %s a value in the body of this test", op.Path, field.name)
		case !slices.Contains(passed, value):
			t.Errorf("%s: %s of the body is not in the command: %+v", op.Path, field.name, r.command)
		}
	}
	if r.caller.Executor != content[executorField] {
		t.Errorf("%s: the executor is %s", op.Path, r.caller.Executor)
	}
}

// codesOf returns the codes of rejections.
func codesOf(rejections []error) (codes []string) {
	for _, err := range rejections {
		codes = append(codes, err.(*ident.Rejection).Code()) //nolint:errorlint // compare the value itself
	}
	return codes
}
