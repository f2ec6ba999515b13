package rest

import (
	"context"
	"errors"

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
