package es

import "context"

// Prepare changes a request before it is handled, or refuses it.
type Prepare[C any] func(ctx context.Context, request *Request[C]) error

// Prepared is a service whose requests are prepared first.
type Prepared[S, C, E any] struct {
	*Service[S, C, E]
	Prepare Prepare[C]
}

// Handle prepares a request, and has the service handle it.
func (p Prepared[S, C, E]) Handle(ctx context.Context, request Request[C]) (Result, error) {
	if err := p.Prepare(ctx, &request); err != nil {
		return Result{}, err
	}
	return p.Service.Handle(ctx, request)
}
