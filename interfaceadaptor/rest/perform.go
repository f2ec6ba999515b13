package rest

import (
	"context"
	"net/http"
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

// Body is a request body that means a command. It embeds [By].
type Body[C any] interface {
	executor() ident.UserID
	// Asked returns the request, as far as the body defines it.
	Asked() es.Request[C]
}

// Action decodes and executes a request, and knows the types of body and response.
type Action struct {
	// prepare decodes and checks a request.
	prepare      func(c Conditions, raw []byte) (Request, error)
	body, answer reflect.Type
	unservable   error // why the body can't be served
	versioned    bool  // the answer carries the aggregate's version in its headers
	isCommand    bool
}

// Request is a request that has been decoded and checked, so that it can be executed.
type Request struct {
	Conditions              // with the executor
	Operation     Operation // that it asks for
	Body          []byte    // as sent
	Name, Content string    // of a command; see [es.Request]
	Aggregate     string    // the key of a command's aggregate; empty: it creates one

	execute func(ctx context.Context) (Reply, error)
}

// Execute does what the request asks for.
func (r Request) Execute(ctx context.Context) (Reply, error) { return r.execute(ctx) }

// Perform executes a request that was sent with the header.
type Perform func(ctx context.Context, header http.Header, r Request) (Reply, error)

// Reply is a successful response.
type Reply struct {
	Body   any
	Header map[string]string
	Status int // 0: the operation's
}

// ReplyOf is the reply to what changed an aggregate: body, and the headers that tell the version.
func ReplyOf(result es.Result, body any) Reply {
	headers := map[string]string{
		etag:             `"` + strconv.FormatUint(result.Version, 10) + `"`,
		consistencyToken: tokenOf(result),
	}
	if result.Replayed {
		headers[idempotentReplayed] = "true"
	}
	return Reply{Body: body, Header: headers}
}

// Command returns the action that has service handle the command that a body of type B means.
func Command[B Body[C], C, A any](service Commands[C], answerOf func(es.Result) A) Action {
	action := actionOf[B, A](func(shape bodyShape[B], c Conditions, body B) (r Request, err error) {
		request := body.Asked()
		request.Caller, request.IfVersion, request.IdempotencyKey = c.Caller, c.IfVersion, c.IdempotencyKey
		if request.IdempotencyKey != "" {
			if request.Content, err = shape.canonical(body); err != nil {
				return r, err
			}
		}
		r.Name, r.Content = request.Name, request.Content
		if !request.Begins {
			aggregate, _, _ := strings.Cut(request.Name, ".")
			r.Aggregate = aggregate + "-" + request.ID
		}
		r.execute = func(ctx context.Context) (Reply, error) {
			result, err := service.Handle(ctx, request)
			if err != nil {
				return Reply{}, err
			}
			return ReplyOf(result, answerOf(result)), nil
		}
		return r, nil
	})
	action.versioned, action.isCommand = true, true
	return action
}

// Resulting returns the action that does with a body of type B what leads to a result, and is no command.
func Resulting[B acting, A any](do func(context.Context, Conditions, B) (es.Result, error), answerOf func(es.Result) A) Action {
	action := actionOf[B, A](func(_ bodyShape[B], c Conditions, body B) (Request, error) {
		return Request{execute: func(ctx context.Context) (Reply, error) {
			result, err := do(ctx, c, body)
			if err != nil {
				return Reply{}, err
			}
			return ReplyOf(result, answerOf(result)), nil
		}}, nil
	})
	action.versioned = true
	return action
}

// Answering returns the action that answers a body of type B, and changes no aggregate's version.
func Answering[B acting, A any](do func(context.Context, Conditions, B) (A, error)) Action {
	return actionOf[B, A](func(_ bodyShape[B], c Conditions, body B) (Request, error) {
		return Request{execute: func(ctx context.Context) (Reply, error) {
			answer, err := do(ctx, c, body)
			return Reply{Body: answer}, err
		}}, nil
	})
}

// acting is a request body that embeds [By].
type acting interface{ executor() ident.UserID }

// actionOf returns an action with a body of type B and an answer of type A. The conditions have the executor.
func actionOf[B acting, A any](prepare func(bodyShape[B], Conditions, B) (Request, error)) Action {
	shape, unservable := shapeOf[B]()
	return Action{unservable: unservable, body: reflect.TypeFor[B](), answer: reflect.TypeFor[A](), prepare: func(c Conditions, raw []byte) (Request, error) {
		body, caller, err := read(shape, c, raw)
		if err != nil {
			return Request{}, err
		}
		c.Caller = caller
		request, err := prepare(shape, c, body)
		request.Conditions, request.Body = c, raw
		return request, err
	}}
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
