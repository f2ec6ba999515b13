package graphql

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/99designs/gqlgen/graphql"
)

const tooManyOperations = "%d operations run on this connection, which is the most; end one of them, or open another connection"

// running is an operation.
type running struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

// subscribe starts an operation.
func (s *socket) subscribe(id string, payload json.RawMessage) *violation {
	if !s.acknowledged {
		return &violation{closeUnauthorized, "Unauthorized"}
	}
	s.mu.Lock()
	_, exists := s.operations[id]
	count := len(s.operations)
	s.mu.Unlock()
	switch {
	case exists:
		return &violation{closeDuplicate, fmt.Sprintf("Subscriber for %s already exists", cut(id, maxQuoted))}
	case count >= s.handler.settings.OperationLimit:
		s.refuse(id, s.handler.presenter.response(s.ctx, &refusal{codeTooManyOperations, fmt.Sprintf(tooManyOperations, count)}))
		return nil
	}
	if err := s.mayAsk(); err != nil {
		s.refuse(id, s.handler.presenter.response(s.ctx, err))
		return nil
	}
	params, err := paramsFromJSON("payload", payload)
	if err != nil {
		s.refuse(id, s.handler.presenter.response(s.ctx, err))
		return nil
	}
	params.Headers = s.headers
	operation, refused := s.handler.engine.begin(s.ctx, params)
	if refused != nil {
		s.refuse(id, refused)
		return nil
	}
	s.start(id, operation)
	return nil
}

// mayAsk refuses an operation of somebody who asks too often, or has not received what they asked for before.
func (s *socket) mayAsk() error {
	a := askerOf(s.ctx)
	if err := s.handler.settings.Gate.Spend(a.principal); err != nil {
		return err
	}
	if err := s.handler.admitTenant(s.ctx, a.tenant); err != nil {
		return err
	}
	return s.handler.settings.Gate.Room(a.client)
}

// refuse tells that an operation has not begun. Its id is free.
func (s *socket) refuse(id string, answer *graphql.Response) {
	errs, err := json.Marshal(answer.Errors)
	if err != nil {
		errs = []byte("[]")
	}
	s.send(message{ID: id, Type: typeError, Payload: errs})
}

func (s *socket) start(id string, operation *graphql.OperationContext) {
	ctx, cancel := context.WithCancel(s.ctx)
	op := &running{cancel: cancel, ended: make(chan struct{})}
	s.mu.Lock()
	s.operations[id] = op
	s.mu.Unlock()
	s.goroutines.Go(func() {
		defer close(op.ended)
		defer cancel()
		s.handler.engine.run(ctx, operation, func(answer *graphql.Response) bool {
			encoded, release, whole := s.handler.encode(ctx, answer)
			defer release()
			return s.sendOf(ctx, message{ID: id, Type: typeNext, Payload: encoded}) && whole
		})
		s.complete(ctx, id)
	})
}

// sendOf sends a message of an operation, unless that has been ended. The end that this may be is seen under the lock.
func (s *socket) sendOf(operation context.Context, m message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if operation.Err() != nil {
		return false
	}
	s.write(m)
	return true
}

// complete tells that an operation has ended by itself, and frees its id. Of one that the client has ended, or that
// ends because the server stops, it tells nothing: in the first case the id may be in use again.
func (s *socket) complete(operation context.Context, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if operation.Err() == nil {
		delete(s.operations, id)
		s.write(message{ID: id, Type: typeComplete})
	}
}

// end ends an operation for the client. When it returns, the id is free and nothing of the operation is left. An
// operation that has ended by itself in the meantime is no mistake.
func (s *socket) end(id string) {
	s.mu.Lock()
	op, exists := s.operations[id]
	if exists {
		delete(s.operations, id)
		op.cancel()
	}
	s.mu.Unlock()
	if exists {
		<-op.ended
	}
}

// runningNow are the operations that have not ended.
func (s *socket) runningNow() []*running {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.operations))
}
