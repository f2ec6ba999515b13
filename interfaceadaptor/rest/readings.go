package rest

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"example.com/threads/domain/ident"
	"example.com/threads/interfaceadaptor/admission"
)

// executorHeader says who asks where there is no body that could.
const executorHeader = "X-Executor-Id"

// read returns the handler of a reading.
func (a *api) read(reading Reading) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, problem := a.conditions(w, r, Operation{Path: reading.Path, Without: []string{IfMatch, IdempotencyKey}})
		if problem == nil {
			problem = c.nameExecutor(r.Header)
		}
		if problem != nil {
			problem.write(w)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), a.settings.Timeout)
		defer cancel()
		if reading.Answer == nil {
			ctx = r.Context() // it is sent part by part
		}
		asker, err := ident.Parse[ident.UserAccount](c.Caller.Executor)
		if err == nil {
			err = reading.Serve(w, r.WithContext(ctx), c, asker)
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

// nameExecutor takes in who acts from the header X-Executor-Id, which a known principal may leave out.
func (c *Conditions) nameExecutor(header http.Header) *Problem {
	var named ident.UserID
	values := header.Values(executorHeader)
	if len(values) > 0 || !c.principal.IsKnown() {
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
		return problemOf(err)
	}
	c.Caller.Executor = executor.String()
	return nil
}

// describeReading describes a reading in the document.
func describeReading(schemas huma.Registry, tag string, reading Reading) *huma.Operation {
	problems := append(earlyProblems(),
		malformed("the header %s must be sent once, and be a ULID of 26 characters", executorHeader),
		newProblem(http.StatusInternalServerError, internal, "something went wrong; it has been logged with the X-Request-Id of this answer"),
		newProblem(http.StatusServiceUnavailable, storeUnavailable, "the store did not answer in time; ask again"),
	)
	for _, rejection := range reading.Rejections {
		problems = append(problems, problemOf(rejection))
	}
	schema := &huma.Schema{Type: huma.TypeString}
	if reading.Answer != nil {
		schema = schemas.Schema(reading.Answer, true, "")
	}
	described := &huma.Operation{
		Method: http.MethodGet, Path: reading.Path, OperationID: operationID(reading.Path), Tags: []string{tag},
		Summary: reading.Summary, Description: reading.Description, Responses: describeProblems(schemas, problems), Metadata: rights(admission.Write),
		Parameters: append(describePath(reading.Path), describeExecutorHeader()),
	}
	for _, header := range requestHeaders() {
		if header.name == tenantCode || header.name == requestID {
			described.Parameters = append(described.Parameters, header.describe())
		}
	}
	described.Responses["200"] = &huma.Response{
		Description: reading.Summary + ".", Headers: describeHeaders(requestID), Content: map[string]*huma.MediaType{reading.Media: {Schema: schema}},
	}
	return described
}

// describePath describes the names in a path: {task_id} is the task.
func describePath(path string) (parameters []*huma.Param) {
	for part := range strings.SplitSeq(path, "/") {
		if name := strings.Trim(part, "{}"); name != part {
			parameters = append(parameters, &huma.Param{
				Name: name, In: "path", Required: true, Description: "The " + strings.TrimSuffix(name, "_id") + ".",
				Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{exampleID}},
			})
		}
	}
	return parameters
}

func describeExecutorHeader() *huma.Param {
	return &huma.Param{
		Name: executorHeader, In: "header", Description: "The user account that asks; a caller who has an account may leave it out.",
		Schema: &huma.Schema{Type: huma.TypeString, Pattern: ulidPattern, Examples: []any{exampleID}},
	}
}
