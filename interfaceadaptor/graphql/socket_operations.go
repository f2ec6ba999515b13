package graphql

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/99designs/gqlgen/graphql"
)

const tooManyOperations = "%d operations run on this connection, and more are not accepted; end one of them, or open another connection"

// running is an operation in progress.
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
		s.refuse(id, s.handler.presenter.response(s.ctx, &limitRefusal{codeTooManyOperations, fmt.Sprintf(tooManyOperations, count)}))
		return nil
	}
	if err := askerOf(s.ctx).guard.Next(s.ctx); err != nil {
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

// refuse reports that an operation is not executed. Its id is free again.
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

// sendOf sends a message of an operation unless the operation has ended. It checks that under the lock.
func (s *socket) sendOf(operation context.Context, m message) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if operation.Err() != nil {
		return false
	}
	s.write(m)
	return true
}

// complete reports that an operation has ended by itself, and frees its id. It sends nothing if the client ended the
// operation, because the id may be in use again, or if the server stops.
func (s *socket) complete(operation context.Context, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if operation.Err() == nil {
		delete(s.operations, id)
		s.write(message{ID: id, Type: typeComplete})
	}
}

// end ends an operation on the client's request. When it returns, the operation has ended completely and the id is
// free. It is not an error if the operation has already ended by itself.
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

// runningNow returns the operations in progress.
func (s *socket) runningNow() []*running {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.operations))
}
