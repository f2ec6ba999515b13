package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2" // extra:access|tasks
	"github.com/go-chi/chi/v5"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
)

type Settings struct {
	// Source is the program's name; it is stored with events and shown on pages.
	Source string
	// Log receives the causes of errors, which clients do not see.
	Log *slog.Logger
	// Timeout limits a request; after it the response is 503.
	Timeout time.Duration
	// Revise may change what a checked request does; nil: nothing is changed. // extra:tasks {
	Revise func(header http.Header, op Operation, r Prepared) Prepared // extra:tasks }
	// Describe adds to the OpenAPI document. // extra:access|tasks {
	Describe []func(*huma.OpenAPI) // extra:access|tasks }
}

type api struct {
	settings Settings
}

// NewHandler returns the HTTP API, without /docs, /health and /metrics. The program must give every request a valid
// X-Request-Id. It panics if a body can't be served, which is a mistake in this program.
func NewHandler(aggregates []Aggregate, settings Settings) chi.Router {
	a := &api{settings}
	router := chi.NewRouter()
	for _, aggregate := range aggregates {
		for _, op := range aggregate.Operations {
			if op.Do.unservable != nil {
				panic(fmt.Sprintf("rest: %s: %v", op.Path, op.Do.unservable))
			}
			if op.Served != nil { // extra:tasks {
				router.MethodFunc(op.Served.method(), op.Path, a.serve(op))
				continue
			} // extra:tasks }
			router.Post(op.Path, a.serve(op))
		}
	}
	router.Get("/openapi.json", serveJSON(func() any { return Document(aggregates, settings) }))
	router.Get("/", serveJSON(func() any {
		return map[string]string{
			"service": settings.Source, "docs": "/docs", "openapi": "/openapi.json", "health": "/health/ready", "metrics": "/metrics",
		}
	}))
	return router
}

// MaxBody is the maximum size of a request body, in bytes.
const MaxBody = 64 << 10

// statusClientGone is logged and counted for a request whose client did not wait for the response; nginx introduced it.
const statusClientGone = 499

// serve returns the handler of an operation: its headers are read, then its body, then it is done.
func (a *api) serve(op Operation) http.HandlerFunc {
	ask := admission.Ask{Rights: op.needs()}
	ask.AnyTenant = op.Operators               // extra:tasks
	ask.AnyTenant = ask.AnyTenant || op.Global // extra:tenants
	return func(w http.ResponseWriter, r *http.Request) {
		c, err := a.conditions(r, op, ask)
		if err == nil {
			err = a.do(w, r, op, c)
		}
		if err != nil {
			a.fail(w, r, err)
		}
	}
}

func (a *api) do(w http.ResponseWriter, r *http.Request, op Operation, c Conditions) error {
	if op.Served != nil { // extra:tasks {
		return a.serveItself(w, r, op, c)
	} // extra:tasks }
	raw, err := readBody(w, r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), a.settings.Timeout)
	defer cancel()
	request, err := op.Do.prepare(c, raw)
	if err != nil {
		return err
	}
	if a.settings.Revise != nil { // extra:tasks {
		request = a.settings.Revise(r.Header, op, request)
	} // extra:tasks }
	reply, err := request.Execute(ctx)
	if err == nil {
		reply.Write(w, cmp.Or(reply.Status, op.Status, http.StatusOK))
	}
	return err
}

// conditions admits a request in the tenant that it names, and returns who sends it and what its headers say.
func (a *api) conditions(r *http.Request, op Operation, ask admission.Ask) (Conditions, error) {
	c, unreadable := readHeaders(r.Header, op.Without)
	ask.Tenant = c.Caller.Tenant
	principal, err := admission.Enter(r, ask)
	if err = cmp.Or(err, unreadable); err != nil {
		return c, err
	}
	c.Principal = principal
	c.Caller.Tenant, c.Caller.ClientIP = principal.Tenant, principal.ClientIP()
	if op.Global { // extra:tenants {
		c.Caller.Tenant = ""
	} // extra:tenants }
	c.Caller.Source = a.settings.Source + " " + op.Path
	return c, nil
}

func unsupported(media string) *Problem {
	return NewProblem(http.StatusUnsupportedMediaType, unsupportedMediaType, "send the body as "+media+" in UTF-8, not encoded otherwise")
}

var requestTooLarge = NewProblem(http.StatusRequestEntityTooLarge, BodyTooLarge, "the body must have at most 65536 bytes")

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if !admission.Sends(r.Header, MediaJSON) {
		return nil, unsupported(MediaJSON)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, requestTooLarge
	case err != nil:
		return nil, malformed("the body did not arrive whole")
	case !isJSON(raw):
		return nil, malformed("the body must be one JSON object in UTF-8 and nothing else")
	}
	return raw, nil
}

// fail sends the error of a request. Causes that the client does not see are logged.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	problem, refusal := ProblemOf(err), new(admission.Refusal)
	switch {
	case errors.Is(r.Context().Err(), context.Canceled):
		w.WriteHeader(statusClientGone)
		return
	case errors.As(err, &refusal):
		refusal.SetHeaders(w.Header())
	case problem.Code == internal:
		a.settings.Log.ErrorContext(r.Context(), "a command failed", "path", r.URL.Path, "error", err)
	case problem.Code == storeUnavailable:
		a.settings.Log.WarnContext(r.Context(), "the store is unavailable", "path", r.URL.Path, "error", err)
	}
	problem.write(w)
}

func (r Reply) Write(w http.ResponseWriter, status int) {
	for name, value := range r.Header {
		w.Header().Set(name, value)
	}
	w.Header().Set("Content-Type", MediaJSON)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(r.Body) // fails only when the client has gone
}

// The headers of requests and answers.
const (
	tenantCode     = "X-Tenant-Code"
	IdempotencyKey = "Idempotency-Key"
	IfMatch        = "If-Match"
	requestID      = "X-Request-Id"
	CorrelationID  = "X-Correlation-Id"
	Traceparent    = "traceparent"

	etag               = "ETag"
	consistencyToken   = "Consistency-Token"
	idempotentReplayed = "Idempotent-Replayed"
	retryAfter         = "Retry-After"
)

const visibleASCII = `^[!-~]{1,128}$`

// Conditions are what a request says outside its body: the caller and the values of a request's headers.
type Conditions struct {
	Caller         es.Caller    // without the executor until the body is read
	Executor       ident.UserID // of Caller, as it is parsed
	IfVersion      uint64       // 0: none is asked for
	IdempotencyKey string
	Principal      admission.Principal
}

type requestHeader struct {
	name        string
	description string
	example     string
	expected    string         // in words, for the error
	pattern     *regexp.Regexp // of usable values; nil: whatever it is, the request goes on
	read        func(*Conditions, string) error
}

var requestHeaders = []requestHeader{
	{
		name: tenantCode, example: "acme",
		description: "The tenant; without it, the one with the empty code.",
		expected:    "1 to 32 characters out of a-z, 0-9 and -",
		pattern:     regexp.MustCompile(`^[a-z0-9-]{1,32}$`),
		read: func(c *Conditions, value string) (err error) {
			c.Caller.Tenant, err = es.ParseTenant(value)
			return err
		},
	},
	{
		name: IdempotencyKey, example: "0b9a6c1e-7c1f-4d0c-8a57-6d3f2b1c9e42",
		description: "Makes repeating safe: another request with the same key, from the same tenant and executor to the same path, gets the first answer: for 30 days on DynamoDB, for ever in SQL. A rejection is not remembered.",
		expected:    "1 to 128 visible ASCII characters",
		pattern:     regexp.MustCompile(visibleASCII),
		read:        func(c *Conditions, value string) error { c.IdempotencyKey = value; return nil },
	},
	{
		name: IfMatch, example: `"7"`,
		description: "The version that the decision was made on, as the ETag of an answer gave it. At another version the command is rejected. Without it, the server decides on the latest version.",
		expected:    `one version in quotes, such as "7"`,
		pattern:     regexp.MustCompile(`^"[1-9][0-9]{0,18}"$`),
		read: func(c *Conditions, value string) (err error) {
			c.IfVersion, err = strconv.ParseUint(value[1:len(value)-1], 10, 64)
			return err
		},
	},
	{
		name: requestID, example: "b7f2c0de",
		description: "The request's id in logs and on events: 1 to 128 visible ASCII characters. In place of one that is missing or unusable the server makes one; the answer tells which.",
		read:        func(c *Conditions, value string) error { c.Caller.RequestID = value; return nil },
	},
	{
		name: CorrelationID, example: "checkout-2291",
		description: "The conversation that the request belongs to; without it, the request's id.",
		expected:    "1 to 128 visible ASCII characters",
		pattern:     regexp.MustCompile(visibleASCII),
		read:        func(c *Conditions, value string) error { c.Caller.CorrelationID = value; return nil },
	},
	{
		name: Traceparent, example: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		description: "W3C Trace Context: the request is part of this trace, and its id is logged and stored with the events. A malformed one is ignored.",
		read:        func(*Conditions, string) error { return nil },
	},
}

// readHeaders parses the headers. A condition that the operation does not support is rejected.
func readHeaders(header http.Header, without []string) (c Conditions, err error) {
	for _, h := range requestHeaders {
		values := header.Values(h.name)
		switch {
		case len(values) == 0:
			continue
		case h.pattern == nil:
			_ = h.read(&c, values[0])
			continue
		case len(values) > 1:
			return c, malformed("the header %s must be sent once", h.name)
		case !h.pattern.MatchString(values[0]) || h.read(&c, values[0]) != nil:
			return c, malformed("the header %s must be %s", h.name, h.expected)
		case h.name == IfMatch && slices.Contains(without, IfMatch):
			return c, malformed("the header %s can't be used here: there is no version to compare it with", h.name)
		}
	}
	if c.Caller.CorrelationID == "" {
		c.Caller.CorrelationID = c.Caller.RequestID
	}
	return c, nil
}
