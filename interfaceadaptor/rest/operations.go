package rest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/usecase/chat"
)

// What the operations of an aggregate are declared with.

// Aggregate is an aggregate type with what clients can ask of it.
type Aggregate struct {
	Name       string // of all aggregates of the type; paths begin with it
	About      string // what the operations are, in the OpenAPI document
	Operations []Operation
}

// Operation is a request that clients can send: a POST with a JSON object.
type Operation struct {
	Path        string
	Summary     string
	Description string
	Status      int             // of success; 0: 200
	Do          Action          // what it does: [Command] or [Doing]
	Rejections  []error         // those of the domain that can come back
	Right       admission.Right // that it needs; empty: admission.Write
	Global      bool            // it works in the tenant with the empty code, whoever asks // extra:tenants
	Operators   bool            // operators may do it, too, and in any tenant, also one that is not admitted // extra:tasks
	Without     []string        // request headers that make no sense here: one that carries a condition is refused
	Served      *Served         // in place of Do // extra:tasks
}

// Prepare decodes and checks a body, as the handler does. // extra:erasure|tasks {
func (o Operation) Prepare(c Conditions, body []byte) (Prepared, error) {
	if len(body) > MaxBody {
		return Prepared{}, requestTooLarge
	}
	return o.Do.prepare(c, body)
} // extra:erasure|tasks }

// needs returns the rights of which the caller needs one.
func (o Operation) needs() []admission.Right {
	needed := []admission.Right{cmp.Or(o.Right, admission.Write)}
	if o.Operators { // extra:tasks {
		needed = append(needed, admission.Operate)
	} // extra:tasks }
	return needed
}

// IsOrdinary reports whether it is a command that needs the rights of those who write, no more. // extra:tasks {
func (o Operation) IsOrdinary() bool { return o.Do.isCommand && o.Right == "" && !o.Operators } // extra:tasks }

// isVersioned reports whether the answer carries an aggregate's version in its headers.
func (o Operation) isVersioned() bool { return !slices.Contains(o.Without, IdempotencyKey) }

// By is the acting user account. Every body embeds it.
type By struct {
	Executor ident.UserID `json:"executor_id" doc:"The user account that acts."`
}

func (b By) executor() ident.UserID { return b.Executor }

const executorField = "executor_id"

// body is a request body that embeds [By].
type body interface{ executor() ident.UserID }

// NewID returns a new id for something that a command creates.
func NewID[T any]() ident.Of[T] {
	var entropy [10]byte
	_, _ = rand.Read(entropy[:]) // never fails, as documented
	return ident.New[T](time.Now(), entropy)
}

// Action is what an operation does: made once, when the program starts, and prepared for each request.
type Action struct {
	prepare      func(c Conditions, raw []byte) (Prepared, error) // decodes and checks a body
	body, answer reflect.Type
	unservable   error // why the body can't be served
	isCommand    bool  // extra:tasks
}

// Prepared is a request that has been decoded and checked, so that it can be executed.
type Prepared struct {
	// Execute does what the request asks for.
	Execute func(ctx context.Context) (Reply, error)

	Name, Content string // of a command; see [es.Request] // extra:erasure|tasks
	Conditions           // with the executor // extra:tasks {
	Body          []byte // as sent
	Aggregate     string // the key of a command's aggregate; empty: it creates one // extra:tasks }
}

// Command returns the action that has service handle the command that a body means: asked says which, named
// <type>.<Command>, and answerOf how its result is answered.
func Command[B body, C, A any](service chat.Service[C], answerOf func(es.Result) A, asked func(B) es.Request[C]) Action {
	action := actionOf[B, A](func(shape bodyShape, c Conditions, body B) (r Prepared, err error) {
		request := asked(body)
		request.Caller, request.IfVersion, request.IdempotencyKey = c.Caller, c.IfVersion, c.IdempotencyKey
		if request.IdempotencyKey != "" {
			if request.Content, err = shape.canonical(reflect.ValueOf(body)); err != nil {
				return r, err
			}
		}
		r.Name, r.Content = request.Name, request.Content // extra:erasure|tasks
		if !request.Begins {                              // extra:tasks {
			aggregate, _, _ := strings.Cut(request.Name, ".")
			r.Aggregate = aggregate + "-" + request.ID
		} // extra:tasks }
		r.Execute = func(ctx context.Context) (Reply, error) {
			result, err := service.Handle(ctx, request)
			if err != nil {
				return Reply{}, err
			}
			return ReplyOf(result, answerOf(result)), nil
		}
		return r, nil
	})
	action.isCommand = true // extra:tasks
	return action
}

// Doing returns the action that does something else with a body, which is answered with an A.
func Doing[A any, B body](do func(context.Context, Conditions, B) (Reply, error)) Action {
	return actionOf[B, A](func(_ bodyShape, c Conditions, body B) (Prepared, error) {
		return Prepared{Execute: func(ctx context.Context) (Reply, error) { return do(ctx, c, body) }}, nil
	})
}

// actionOf returns an action on a B, answered with an A. It decodes a body, checks that the caller may be its executor,
// and has prepare do the rest.
func actionOf[B body, A any](prepare func(bodyShape, Conditions, B) (Prepared, error)) Action {
	shape, unservable := shapeOf(reflect.TypeFor[B]())
	return Action{unservable: unservable, body: reflect.TypeFor[B](), answer: reflect.TypeFor[A](), prepare: func(c Conditions, raw []byte) (Prepared, error) {
		leftOut := map[string]json.RawMessage{}
		if c.Principal.IsKnown() { // extra:access|tasks {
			leftOut[executorField] = json.RawMessage(`"` + c.Principal.Account.String() + `"`)
		} // extra:access|tasks }
		var body B
		if err := shape.decode(reflect.ValueOf(&body).Elem(), raw, leftOut); err != nil {
			return Prepared{}, err
		}
		executor, err := c.Principal.For(body.executor())
		if err != nil {
			return Prepared{}, err
		}
		c.Executor, c.Caller.Executor = executor, executor.String()
		request, err := prepare(shape, c, body)
		request.Conditions, request.Body = c, raw // extra:tasks
		return request, err
	}}
}

// Reply is a successful response.
type Reply struct {
	Body   any
	Header map[string]string
	Status int // 0: the operation's
}

// ReplyOf is the reply to what changed an aggregate: body, and the headers that tell the version.
func ReplyOf(result es.Result, body any) Reply {
	named := result.Key.String()
	// A thread's token has no type, because earlier versions had only threads. // extra:chat {
	named = strings.TrimPrefix(named, thread.AggregateType+"-") // extra:chat }
	version := strconv.FormatUint(result.Version, 10)
	headers := map[string]string{etag: `"` + version + `"`, consistencyToken: named + ":" + version}
	if result.Replayed {
		headers[idempotentReplayed] = "true"
	}
	return Reply{Body: body, Header: headers}
}
