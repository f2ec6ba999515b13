package rest

import (
	"context"
	"errors"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"example.com/threads/domain/ident"
	"example.com/threads/extras/access"
)

// executorHeader says who asks where there is no body that could.
const executorHeader = "X-Executor-Id"

// readOperation is a GET on something that somebody owns.
type readOperation struct {
	path, summary, description string
	media                      string
	answer                     reflect.Type // of JSON; nil for other media
	rejections                 []error
	serve                      servesReading
}

// servesReading answers a request of asker's, or returns why not.
type servesReading func(w http.ResponseWriter, r *http.Request, c requestConditions, asker ident.UserID) error

// read returns the handler of a reading.
func (a *api) read(reading readOperation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		principal, err := a.admit(w, r, access.Write)
		if err != nil {
			deny(w, err)
			return
		}
		c, problem := a.conditions(w, r, principal, operation{path: reading.path, without: []string{ifMatch, idempotencyKey}})
		if problem == nil {
			problem = c.nameExecutor(w, r.Header)
		}
		if problem != nil {
			problem.write(w)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), a.settings.Timeout)
		defer cancel()
		if reading.answer == nil {
			ctx = r.Context() // it is sent part by part
		}
		asker, err := ident.Parse[ident.UserAccount](c.caller.Executor)
		if err == nil {
			err = reading.serve(w, r.WithContext(ctx), c, asker)
		}
		if errors.Is(err, errCutShort) {
			a.settings.Log.WarnContext(ctx, "an answer was cut short", "path", r.URL.Path, "error", err)
			panic(http.ErrAbortHandler) // so that the client sees it, too
		}
		if err != nil {
			a.fail(w, r, err)
		}
	}
}

// nameExecutor takes in who acts from the header X-Executor-Id, which a verified principal may leave out.
func (c *requestConditions) nameExecutor(w http.ResponseWriter, header http.Header) *Problem {
	var named ident.UserID
	values := header.Values(executorHeader)
	if len(values) > 0 || !c.principal.IsVerified() {
		var err error
		if len(values) == 1 {
			named, err = ident.Parse[ident.UserAccount](values[0])
		}
		if len(values) != 1 || err != nil {
			return malformed("the header %s must be sent once, and be a ULID of 26 characters", executorHeader)
		}
	}
	executor, err := c.principal.For(named)
	if err != nil {
		return problemOfDenial(w.Header(), err)
	}
	c.caller.Executor = executor.String()
	return nil
}

// describeReading describes a reading in the document.
func describeReading(schemas huma.Registry, tag string, reading readOperation) *huma.Operation {
	problems := append(earlyProblems(),
		malformed("the header %s must be sent once, and be a ULID of 26 characters", executorHeader),
		newProblem(http.StatusTooManyRequests, tooManyRequests, "this address has sent more than 100 requests a second; send fewer, and try again later"),
		newProblem(http.StatusInternalServerError, internal, "something went wrong; it has been logged with the X-Request-Id of this answer"),
		newProblem(http.StatusServiceUnavailable, storeUnavailable, "the store did not answer in time; ask again"),
	)
	for _, rejection := range reading.rejections {
		problems = append(problems, problemOf(rejection))
	}
	schema := &huma.Schema{Type: huma.TypeString}
	if reading.answer != nil {
		schema = schemas.Schema(reading.answer, true, "")
	}
	described := &huma.Operation{
		Method: http.MethodGet, Path: reading.path, OperationID: operationID(reading.path), Tags: []string{tag},
		Summary: reading.summary, Description: reading.description, Responses: describeProblems(schemas, problems),
		Parameters: []*huma.Param{
			{Name: "task_id", In: "path", Required: true, Description: "The task.", Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{exampleID}}},
			describeExecutorHeader(),
		},
	}
	for _, header := range requestHeaders() {
		if header.name == tenantCode || header.name == requestID {
			described.Parameters = append(described.Parameters, header.describe())
		}
	}
	described.Responses["200"] = &huma.Response{
		Description: reading.summary + ".", Headers: describeHeaders(requestID), Content: map[string]*huma.MediaType{reading.media: {Schema: schema}},
	}
	return described
}

func describeExecutorHeader() *huma.Param {
	return &huma.Param{
		Name: executorHeader, In: "header", Description: "The user account that asks; with a token, it may be left out and is the token's.",
		Schema: &huma.Schema{Type: huma.TypeString, Pattern: ulidPattern, Examples: []any{exampleID}},
	}
}
