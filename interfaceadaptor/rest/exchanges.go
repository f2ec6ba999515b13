package rest

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
)

// executorHeader says who asks where there is no body that could.
const executorHeader = "X-Executor-Id"

func (e Exchange) method() string { return cmp.Or(e.Method, http.MethodGet) }

// headers are those that the exchange reads.
func (e Exchange) headers(all []requestHeader) (read []requestHeader) {
	for _, header := range all {
		if header.name == tenantCode || header.name == requestID || e.Takes != "" && header.name != IfMatch {
			read = append(read, header)
		}
	}
	return read
}

// exchange returns the handler of an exchange.
func (a *api) exchange(e Exchange) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, problem := a.conditions(w, r, Operation{Path: e.Path, Without: []string{IfMatch}})
		if problem == nil {
			problem = c.nameExecutor(r.Header)
		}
		if problem == nil && e.Takes != "" && !says(r.Header, e.Takes) {
			problem = unsupported(e.Takes)
		}
		if problem != nil {
			problem.write(w)
			return
		}
		if e.Takes == "" && e.Answer != nil { // nothing is streamed
			ctx, cancel := context.WithTimeout(r.Context(), a.settings.Timeout)
			defer cancel()
			r = r.WithContext(ctx)
		}
		if err := e.Serve(w, r, c); err != nil {
			a.fail(w, r, err)
		}
	}
}

// nameExecutor takes in who acts from the header X-Executor-Id, which a known principal may leave out.
func (c *Conditions) nameExecutor(header http.Header) *Problem {
	var named ident.UserID
	values := header.Values(executorHeader)
	if len(values) > 0 || !c.Principal.IsKnown() {
		var err error
		if len(values) == 1 {
			named, err = ident.Parse[ident.UserAccount](values[0])
		}
		if len(values) != 1 || err != nil {
			return malformed("the header %s must be sent once, and be a ULID of 26 characters", executorHeader)
		}
	}
	executor, err := c.Principal.For(named)
	if err != nil {
		return ProblemOf(err)
	}
	c.Caller.Executor = executor.String()
	return nil
}

// describeExchange describes an exchange in the document.
func describeExchange(schemas huma.Registry, tag string, e Exchange, headers []requestHeader) *huma.Operation {
	problems := append(earlyProblems(),
		malformed("the header %s must be sent once, and be a ULID of 26 characters", executorHeader),
		ProblemOf(errors.New("anything else")),
		ProblemOf(es.ErrUnavailable),
	)
	schema, answer := &huma.Schema{Type: huma.TypeString}, []string{requestID}
	if e.Answer != nil {
		schema = schemas.Schema(e.Answer, true, "")
	}
	described := &huma.Operation{
		Method: e.method(), Path: e.Path, OperationID: operationID(e.Path), Tags: []string{tag}, Summary: e.Summary, Description: e.Description,
		Parameters: append(describePath(e.Path), describeExecutorHeader()), Metadata: rights(admission.Write),
	}
	for _, header := range e.headers(headers) {
		described.Parameters = append(described.Parameters, header.describe())
	}
	if e.Takes != "" {
		answer = versionHeaders
		problems = append(problems, unsupported(e.Takes))
		described.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			e.Takes: {Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{e.Example}}},
		}}
	}
	for _, rejection := range e.Rejections {
		problems = append(problems, ProblemOf(rejection))
	}
	described.Responses = describeProblems(schemas, problems)
	described.Responses[strconv.Itoa(cmp.Or(e.Status, http.StatusOK))] = &huma.Response{
		Description: e.Summary + ".", Headers: describeHeaders(answer...), Content: map[string]*huma.MediaType{e.Gives: {Schema: schema}},
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
