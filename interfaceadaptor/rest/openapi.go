package rest

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
)

const (
	MediaJSON    = "application/json"
	MediaProblem = "application/problem+json"
	schemaPrefix = "#/components/schemas/"
)

// document generates the OpenAPI 3.1 document from the tables and types that serve the API: operations, bodies,
// responses, headers and errors.
func document(service string, aggregates []Aggregate, headers []requestHeader) *huma.OpenAPI {
	schemas := huma.NewMapRegistry(schemaPrefix, huma.DefaultSchemaNamer)
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Threads: " + service, Version: "1",
			Description: "The write side of a chat: commands go in here, and what they led to is read from the read API. " +
				"Identifiers are ULIDs; on input they may also come as `{\"value\": \"<ulid>\"}` or in the UUID form of the same bytes. " +
				"An error is a problem document whose `code` is for programs and whose `detail` is for people. " +
				"Besides those of an operation, requests that are no usable HTTP/1.1 get one: 400, 501 or 505.",
			Contact: &huma.Contact{Name: "The threads authors"},
			License: &huma.License{Name: "MIT", Identifier: "MIT"},
		},
		Servers:    []*huma.Server{{URL: "/", Description: "The program that this document came from."}},
		Security:   []map[string][]string{}, // nobody is asked who they are
		Components: &huma.Components{Schemas: schemas},
	}
	for _, aggregate := range aggregates {
		doc.Tags = append(doc.Tags, &huma.Tag{Name: aggregate.Name, Description: aggregate.About})
		for _, op := range aggregate.Operations {
			doc.AddOperation(describe(schemas, op, headers))
		}
		for _, exchange := range aggregate.Exchanges {
			doc.AddOperation(describeExchange(schemas, aggregate.Name, exchange, headers))
		}
	}
	doc.Tags = append(doc.Tags, &huma.Tag{Name: "operation", Description: "For those who run the service."})
	for _, page := range pages(schemas) {
		doc.AddOperation(page)
	}
	return doc
}

func describe(schemas huma.Registry, op Operation, headers []requestHeader) *huma.Operation {
	tag, _, _ := strings.Cut(op.Path[1:], "/")
	described := &huma.Operation{
		Method:      http.MethodPost,
		Path:        op.Path,
		OperationID: operationID(op.Path),
		Tags:        []string{tag},
		Summary:     op.Summary,
		Description: op.Description,
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{MediaJSON: {Schema: describeBody(schemas, op.Do.body)}}},
		Responses:   describeProblems(schemas, problemsOf(op)),
		Metadata:    rights(op.needs()...),
	}
	for _, header := range headers {
		if !slices.Contains(op.Without, header.name) {
			described.Parameters = append(described.Parameters, header.describe())
		}
	}
	described.Responses[strconv.Itoa(op.successStatus())] = &huma.Response{
		Description: "It is done.",
		Headers:     describeAnswerHeaders(op),
		Content:     map[string]*huma.MediaType{MediaJSON: {Schema: schemas.Schema(op.Do.answer, true, "")}},
	}
	return described
}

// rights are those of an operation, for functions that describe who is admitted.
func rights(needed ...admission.Right) map[string]any {
	return map[string]any{admission.Rights: needed}
}

// operationID is the name of an operation in generated clients.
func operationID(path string) string {
	return strings.NewReplacer("/", "_", "{", "", "}", "").Replace(strings.TrimPrefix(path[1:], "threads/"))
}

// describe puts the example into the schema: next to it, the docs page would fill it into its forms and send it.
func (h requestHeader) describe() *huma.Param {
	schema := &huma.Schema{Type: huma.TypeString, Examples: []any{h.example}}
	if h.pattern != nil {
		schema.Pattern = h.pattern.String()
	}
	return &huma.Param{Name: h.name, In: "header", Description: h.description, Schema: schema}
}

// earlyProblems returns the errors that any request can get before a handler is called.
func earlyProblems() []*Problem {
	return []*Problem{
		NewProblem(http.StatusExpectationFailed, expectationFailed, "the header Expect can be 100-continue and nothing else; leave it out"),
		NewProblem(http.StatusRequestHeaderFieldsTooLarge, headersTooLarge, "the URL and the headers together must have at most 32768 bytes"),
	}
}

// problemsOf returns the errors of an operation.
func problemsOf(op Operation) []*Problem {
	problems := append(earlyProblems(),
		malformed("the header %s must be sent once", tenantCode),
		requestTooLarge(),
		unsupported(MediaJSON),
		InvalidFields([]FieldError{{"body.executor_id", "is required"}}),
		ProblemOf(es.ErrUnavailable),
		ProblemOf(fmt.Errorf("anything else")),
		NewProblem(http.StatusInternalServerError, storeInconsistent, inconsistent),
	)
	for _, rejection := range op.Rejections {
		problems = append(problems, ProblemOf(rejection))
	}
	if op.Do.versioned {
		problems = append(problems, ProblemOf(es.ErrConcurrentUpdate), ProblemOf(es.ErrKeyReused))
	}
	if op.Do.versioned && !slices.Contains(op.Without, IfMatch) {
		problems = append(problems, ProblemOf(&es.VersionMismatchError{Expected: 7, Current: 9}))
	}
	return problems
}

// describeProblems describes problems by status, with an example for each code.
func describeProblems(schemas huma.Registry, problems []*Problem) map[string]*huma.Response {
	schema := schemas.Schema(reflect.TypeFor[Problem](), true, "")
	responses := map[string]*huma.Response{}
	for _, problem := range problems {
		status := strconv.Itoa(problem.Status)
		response, begun := responses[status]
		if !begun {
			response = &huma.Response{
				Headers: describeHeaders(requestID),
				Content: map[string]*huma.MediaType{MediaProblem: {Schema: schema, Examples: map[string]*huma.Example{}}},
			}
			responses[status] = response
		}
		if problem.transient() {
			maps.Copy(response.Headers, describeHeaders(retryAfter))
		}
		if code := "`" + problem.Code + "`"; !strings.Contains(response.Description, code) {
			response.Description = strings.TrimPrefix(response.Description+", "+code, ", ")
		}
		response.Content[MediaProblem].Examples[problem.Code] = &huma.Example{Summary: problem.Detail, Value: problem}
	}
	return responses
}

// versionHeaders are those of answers that tell an aggregate's version.
var versionHeaders = []string{requestID, etag, consistencyToken, idempotentReplayed}

func describeAnswerHeaders(op Operation) map[string]*huma.Param {
	if op.Do.versioned {
		return describeHeaders(versionHeaders...)
	}
	return describeHeaders(requestID)
}

func describeHeaders(names ...string) map[string]*huma.Param {
	all := map[string]*huma.Param{
		requestID:          {Description: "The request's id: the client's, or one that the server made.", Example: "b7f2c0de"},
		etag:               {Description: "The version of the thread or account, for If-Match.", Example: `"7"`},
		consistencyToken:   {Description: "Names the version to the read API: an answer that was asked for with it shows the command's effect.", Example: exampleID + ":7"},
		idempotentReplayed: {Description: "The first answer again: the command was applied before, with the same Idempotency-Key.", Example: "true"},
		retryAfter:         {Description: "Seconds to wait before repeating the request, with the same Idempotency-Key.", Example: "1"},
	}
	described := map[string]*huma.Param{}
	for _, name := range names {
		header := all[name]
		header.Schema = &huma.Schema{Type: huma.TypeString}
		described[name] = header
	}
	return described
}
