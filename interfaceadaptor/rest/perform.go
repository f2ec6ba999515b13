package rest

import (
	"context"
	"fmt"
	"reflect"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
	"example.com/threads/usecase/command"
)

// Service is what the operations are for. Its errors are those that [usecase.KindOf] knows. Both methods may be called
// concurrently.
type Service interface {
	// Handle applies a command and returns when it holds.
	Handle(ctx context.Context, request command.Request) (command.Result, error)
	// Snapshot stores a snapshot of the thread's latest state and returns its version.
	Snapshot(ctx context.Context, caller usecase.Caller, id thread.ID) (uint64, error)
}

// request is what all request bodies tell. The thread is the zero value where there is none yet.
type request interface {
	executor() thread.UserID
	thread() thread.ID
}

// commanding is a request body that stands for a command.
type commanding interface {
	request
	command() thread.Command
}

// performer does what a request asks for and knows the type of the answer.
type performer struct {
	run       func(ctx context.Context, service Service, c conditions, body any) (reply, error)
	answer    reflect.Type
	versioned bool // the answer carries the thread's version in its headers
}

// reply is a successful answer.
type reply struct {
	body    any
	headers map[string]string
}

// handle has the command handled that the body stands for.
func handle[A any](answerOf func(command.Result) A) performer {
	run := func(ctx context.Context, service Service, c conditions, body any) (reply, error) {
		wanted := body.(commanding)
		result, err := service.Handle(ctx, command.Request{
			Caller:         c.caller,
			Thread:         wanted.thread(),
			Command:        wanted.command(),
			IfVersion:      c.ifVersion,
			IdempotencyKey: c.idempotencyKey,
		})
		if err != nil {
			return reply{}, err
		}
		headers := map[string]string{
			etag:             fmt.Sprintf(`"%d"`, result.Version),
			consistencyToken: fmt.Sprintf("%s:%d", result.Thread, result.Version),
		}
		if result.Replayed {
			headers[idempotentReplayed] = "true"
		}
		return reply{answerOf(result), headers}, nil
	}
	return performer{run: run, answer: reflect.TypeFor[A](), versioned: true}
}

// snapshot has a snapshot stored.
func snapshot() performer {
	run := func(ctx context.Context, service Service, c conditions, body any) (reply, error) {
		id := body.(request).thread()
		version, err := service.Snapshot(ctx, c.caller, id)
		return reply{body: snapshotAnswerOf(id, version)}, err
	}
	return performer{run: run, answer: reflect.TypeFor[snapshotAnswer]()}
}
