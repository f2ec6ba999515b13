package rest

import (
	"context"
	"reflect"
	"strconv"
	"strings"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
)

// Commands handles the commands of one type of aggregate. Its errors are those that [es.KindOf] knows. It may be
// called concurrently.
type Commands[C any] interface {
	// Handle applies a command and returns when its events are stored.
	Handle(ctx context.Context, request es.Request[C]) (es.Result, error)
}

// Service handles commands and snapshots of one aggregate type.
type Service[C any] interface {
	Commands[C]
	// Snapshot stores a snapshot of the aggregate's latest state and returns its version.
	Snapshot(ctx context.Context, caller es.Caller, id string) (uint64, error)
}

// commanding is a request body that represents a command.
type commanding[C any] interface {
	executor() ident.UserID
	// asked returns the request, as far as the body defines it.
	asked() es.Request[C]
}

// performer decodes and executes a request, and knows the types of body and response.
type performer struct {
	// prepare decodes and checks a request.
	prepare      func(c requestConditions, raw []byte) (prepared, error)
	body, answer reflect.Type
	unservable   error // why the body can't be served
	versioned    bool  // the answer carries the aggregate's version in its headers
	later        bool  // with Prefer: respond-async it becomes a task
}

// prepared is a request that can be executed.
type prepared struct {
	execute       func(ctx context.Context) (reply, error)
	caller        es.Caller
	name, content string // of the command; see [es.Request]
	key           string // of the command's aggregate; empty: it creates one
}

// reply is a successful response.
type reply struct {
	body    any
	headers map[string]string
}

// handle returns the performer for a command with a body of type B.
func handle[B commanding[C], C, A any](service Commands[C], answerOf func(es.Result) A) performer {
	shape, unservable := shapeOf[B]()
	prepare := func(c requestConditions, raw []byte) (prepared, error) {
		body, caller, err := read(shape, c, raw)
		if err != nil {
			return prepared{}, err
		}
		request := body.asked()
		request.Caller = caller
		request.IfVersion, request.IdempotencyKey = c.ifVersion, c.idempotencyKey
		if request.IdempotencyKey != "" {
			if request.Content, err = shape.canonical(body); err != nil {
				return prepared{}, err
			}
		}
		p := prepared{caller: caller, name: request.Name, content: request.Content}
		if !request.Begins {
			aggregate, _, _ := strings.Cut(request.Name, ".")
			p.key = aggregate + "-" + request.ID
		}
		p.execute = func(ctx context.Context) (reply, error) {
			result, err := service.Handle(ctx, request)
			if err != nil {
				return reply{}, err
			}
			return reply{answerOf(result), headersOf(result)}, nil
		}
		return p, nil
	}
	return performer{prepare: prepare, unservable: unservable, body: reflect.TypeFor[B](), answer: reflect.TypeFor[A](), versioned: true, later: true}
}

// headersOf returns the headers that every answer to a command has.
func headersOf(result es.Result) map[string]string {
	headers := map[string]string{
		etag:             `"` + strconv.FormatUint(result.Version, 10) + `"`,
		consistencyToken: tokenOf(result),
	}
	if result.Replayed {
		headers[idempotentReplayed] = "true"
	}
	return headers
}

// tokenOf returns the consistency token for the read API. A thread's token has no type, because earlier versions had
// only threads.
func tokenOf(r es.Result) string {
	name := r.Key.String()
	if r.Key.Type == thread.AggregateType {
		name = r.Key.ID
	}
	return name + ":" + strconv.FormatUint(r.Version, 10)
}

// snapshot returns the performer that stores a snapshot.
func snapshot[C any](service Service[C]) performer {
	shape, unservable := shapeOf[takeSnapshot]()
	prepare := func(c requestConditions, raw []byte) (prepared, error) {
		body, caller, err := read(shape, c, raw)
		return prepared{execute: func(ctx context.Context) (reply, error) {
			version, err := service.Snapshot(ctx, caller, body.thread().String())
			return reply{body: snapshotAnswerOf(body.thread(), version)}, err
		}}, err
	}
	return performer{prepare: prepare, unservable: unservable, body: reflect.TypeFor[takeSnapshot](), answer: reflect.TypeFor[snapshotAnswer]()}
}
