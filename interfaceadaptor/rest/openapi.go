package rest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
)

const (
	MediaJSON    = "application/json"
	MediaProblem = "application/problem+json"
	schemaPrefix = "#/components/schemas/"
)

// Document generates the OpenAPI 3.1 document of the handler from the tables and types that serve the API.
func Document(aggregates []Aggregate, settings Settings) *huma.OpenAPI {
	schemas := huma.NewMapRegistry(schemaPrefix, huma.DefaultSchemaNamer)
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Threads: " + settings.Source, Version: "1",
			Description: "The write side: commands go in here, and what they led to is read from the read API. " +
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
			doc.AddOperation(describe(schemas, aggregate.Name, op))
		}
	}
	for _, describe := range settings.Describe { // extra:access|tasks {
		describe(doc)
	} // extra:access|tasks }
	return doc
}

// serveJSON serves a document that is made when it is first asked for: a program starts without it.
func serveJSON(document func() any) http.HandlerFunc {
	body := sync.OnceValue(func() []byte {
		body, err := json.Marshal(document())
		if err != nil {
			panic(fmt.Sprintf("rest: a document of ours can't be written: %v", err)) // it is the same in every run
		}
		return body
	})
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", MediaJSON)
		_, _ = w.Write(body()) // fails only when the client has gone
	}
}

func describe(schemas huma.Registry, tag string, op Operation) *huma.Operation {
	name := op.Path[1:]                         // of the operation in generated clients
	name = strings.TrimPrefix(name, "threads/") // extra:chat
	described := &huma.Operation{
		Method: http.MethodPost, Path: op.Path, Tags: []string{tag}, Summary: op.Summary, Description: op.Description,
		OperationID: strings.NewReplacer("/", "_", "{", "", "}", "").Replace(name),
		Responses: map[string]*huma.Response{ // the first two by net/http, without a problem document
			"417": {Description: "The header Expect can be 100-continue and nothing else: leave it out."},
			"431": {Description: "The URL and the headers together must have at most 32768 bytes."},
		},
		Metadata: map[string]any{admission.Rights: op.needs()}, // extra:access
	}
	describeProblems(schemas, described.Responses, problemsOf(op)...)
	done := &huma.Response{Description: "It is done."}
	if op.Served != nil { // extra:tasks {
		op.Served.describe(schemas, described, done)
	} else { // extra:tasks }
		done.Content = map[string]*huma.MediaType{MediaJSON: {Schema: schemas.Schema(op.Do.answer, true, "")}}
		described.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{MediaJSON: {Schema: describeBody(schemas, op.Do.body)}}}
	} // extra:tasks
	for _, header := range requestHeaders {
		if !slices.Contains(op.Without, header.name) {
			described.Parameters = append(described.Parameters, header.describe())
		}
	}
	answered := []string{requestID}
	if op.isVersioned() {
		answered = append(answered, etag, consistencyToken, idempotentReplayed)
	}
	done.Headers = describeHeaders(answered...)
	described.Responses[strconv.Itoa(cmp.Or(op.Status, http.StatusOK))] = done
	return described
}

const (
	ulidPattern = `^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$`
	uuidPattern = `^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`
	exampleID   = "01H42K4ABWQ5V2XQEP3A48VE0Z"
)

// identifier has the schema that all ids share.
type identifier struct{}

func (identifier) Schema(schemas huma.Registry) *huma.Schema {
	const shared = "Identifier"
	ulid := &huma.Schema{Type: huma.TypeString, Pattern: ulidPattern, Description: "A ULID."}
	schemas.Map()[shared] = &huma.Schema{
		AnyOf: []*huma.Schema{
			ulid,
			{Type: huma.TypeString, Pattern: uuidPattern, Description: "The UUID form of the same 16 bytes."},
			{
				Type: huma.TypeObject, Description: "The ULID in an object.", AdditionalProperties: false,
				Properties: map[string]*huma.Schema{"value": ulid}, Required: []string{"value"},
			},
		},
		Examples: []any{exampleID},
	}
	return &huma.Schema{Ref: schemaPrefix + shared}
}

// describeBody returns the schema of a request body, which [shapeOf] has taken.
func describeBody(schemas huma.Registry, body reflect.Type) *huma.Schema {
	for _, f := range reflect.VisibleFields(body) {
		if isID(f.Type) {
			schemas.RegisterTypeAlias(f.Type, reflect.TypeFor[identifier]())
		}
	}
	return schemas.Schema(body, true, "")
}

// describe puts the example into the schema: next to it, the docs page would fill it into its forms and send it.
func (h requestHeader) describe() *huma.Param {
	schema := &huma.Schema{Type: huma.TypeString, Examples: []any{h.example}}
	if h.pattern != nil {
		schema.Pattern = h.pattern.String()
	}
	return &huma.Param{Name: h.name, In: "header", Description: h.description, Schema: schema}
}

func problemsOf(op Operation) []*Problem {
	failed := ProblemOf(errors.New("anything else"))
	var problems []*Problem
	if op.Served != nil { // extra:tasks {
		problems = append(problems, executorMissing, failed, ProblemOf(es.ErrUnavailable), ProblemOf(new(es.InconsistentError)))
		if op.Served.Lines != "" {
			problems = append(problems, unsupported(MediaLines))
		}
	} else { // extra:tasks }
		problems = append(problems, malformed("the header %s must be sent once", tenantCode), requestTooLarge, unsupported(MediaJSON),
			InvalidFields([]FieldError{{"body.executor_id", "is required"}}), ProblemOf(es.ErrUnavailable), failed,
			ProblemOf(new(es.InconsistentError)))
	} // extra:tasks
	for _, rejection := range op.Rejections {
		problems = append(problems, ProblemOf(rejection))
	}
	if op.isVersioned() {
		problems = append(problems, ProblemOf(es.ErrConcurrentUpdate), ProblemOf(es.ErrKeyReused))
		if !slices.Contains(op.Without, IfMatch) {
			problems = append(problems, ProblemOf(&es.VersionMismatchError{Expected: 7, Current: 9}))
		}
	}
	return problems
}

// DescribeProblem adds the problem of an error to the responses of an operation. // extra:access|tasks {
func DescribeProblem(doc *huma.OpenAPI, op *huma.Operation, err error) {
	describeProblems(doc.Components.Schemas, op.Responses, ProblemOf(err))
} // extra:access|tasks }

// describeProblems adds problems to responses: by status, with an example for each code.
func describeProblems(schemas huma.Registry, responses map[string]*huma.Response, problems ...*Problem) {
	schema := schemas.Schema(reflect.TypeFor[Problem](), true, "")
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
}

func describeHeaders(names ...string) map[string]*huma.Param {
	all := map[string]*huma.Param{
		requestID:          {Description: "The request's id: the client's, or one that the server made.", Example: "b7f2c0de"},
		etag:               {Description: "The version of the aggregate, for If-Match.", Example: `"7"`},
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
