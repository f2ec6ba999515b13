package graphql

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/munnerz/goautoneg"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
	"example.com/threads/usecase/query"
)

// The media types of an answer, and headers of requests.
const (
	mediaJSON     = "application/json"
	mediaResponse = "application/graphql-response+json" // like mediaJSON, but the status shows whether it was executed
	mediaEvents   = "text/event-stream"

	tenantHeader      = "X-Tenant-Code"
	consistencyHeader = "Consistency-Token"
)

// negotiate returns the media type with the highest quality in Accept. Among equals, JSON comes before a stream.
// Wildcards mean [mediaJSON], as GraphQL over HTTP requires. It is also the result if Accept allows none.
func negotiate(header http.Header) string {
	best, quality := mediaJSON, 0.0
	clauses := goautoneg.ParseAccept(strings.Join(header.Values("Accept"), ","))
	for _, names := range [][]string{{mediaResponse}, {mediaJSON, "application/*", "*/*"}, {mediaEvents}} {
		if q := qualityOf(clauses, names); q > quality {
			best, quality = names[0], q
		}
	}
	return best
}

// qualityOf returns the quality of the first name that has a clause; 0: no name has one.
func qualityOf(clauses []goautoneg.Accept, names []string) float64 {
	for _, name := range names {
		for _, clause := range clauses {
			if strings.EqualFold(clause.Type+"/"+clause.SubType, name) {
				return clause.Q
			}
		}
	}
	return 0
}

// paramsOf reads the operation in a request. The status is for a request without one.
func paramsOf(w http.ResponseWriter, r *http.Request) (params *graphql.RawParams, status int, err error) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		params, err = paramsFromURL(r.URL)
		return params, http.StatusBadRequest, err
	}
	if !admission.Sends(r.Header, mediaJSON) {
		return nil, http.StatusUnsupportedMediaType, &ident.InvalidError{
			Field: "Content-Type", Reason: "must be application/json in UTF-8, not encoded otherwise",
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		status = http.StatusBadRequest
		if errors.As(err, new(*http.MaxBytesError)) {
			status = http.StatusRequestEntityTooLarge
		}
		return nil, status, &ident.InvalidError{Field: "body", Reason: "must arrive completely and be 64 KiB at most"}
	}
	params, err = ParseOperation("body", body)
	return params, http.StatusBadRequest, err
}

var errNoQuery error = &ident.InvalidError{Field: "query", Reason: "must be given, and be a string"}

// paramsFromURL reads an operation from the query parameters of a GET.
func paramsFromURL(from *url.URL) (*graphql.RawParams, error) {
	given, err := url.ParseQuery(from.RawQuery)
	if err != nil {
		return nil, &ident.InvalidError{Field: "URL", Reason: "must have well-formed parameters"}
	}
	if !given.Has("query") {
		return nil, errNoQuery
	}
	params := &graphql.RawParams{Query: given.Get("query"), OperationName: given.Get("operationName")}
	return params, readObjects(params, []byte(given.Get("variables")), []byte(given.Get("extensions")))
}

// ParseOperation reads an operation; from names its place in errors. A map keeps names that differ in case apart.
func ParseOperation(from string, raw []byte) (*graphql.RawParams, error) {
	var members map[string]json.RawMessage
	if !utf8.Valid(raw) || json.Unmarshal(raw, &members) != nil || members == nil {
		return nil, &ident.InvalidError{Field: from, Reason: "must be one JSON object in UTF-8 and nothing else"}
	}
	var query *string
	if json.Unmarshal(members["query"], &query) != nil || query == nil {
		return nil, errNoQuery
	}
	params := &graphql.RawParams{Query: *query}
	if name, given := members["operationName"]; given && json.Unmarshal(name, &params.OperationName) != nil {
		return nil, &ident.InvalidError{Field: "operationName", Reason: "must be a string or null"}
	}
	return params, readObjects(params, members["variables"], members["extensions"])
}

func readObjects(params *graphql.RawParams, variables, extensions []byte) (err error) {
	if params.Variables, err = ReadObject("variables", variables); err == nil {
		params.Extensions, err = ReadObject("extensions", extensions)
	}
	return err
}

// ReadObject reads a JSON object; nil: it is missing or null. Numbers stay as written, for the schema.
func ReadObject(name string, raw []byte) (object map[string]any, err error) {
	if len(raw) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if !json.Valid(raw) || decoder.Decode(&object) != nil {
		return nil, &ident.InvalidError{Field: name, Reason: "must be a JSON object or null"}
	}
	return object, nil
}

// asker is the sender of an operation and the conditions of its answer.
type asker struct {
	admission.Principal
	guard     admission.Guard // extra:access|operate|tenants|websocket
	tokens    []query.Token
	canStream bool // the transport can deliver more than one answer
}

type askerKey struct{}

func askerOf(ctx context.Context) asker {
	a, _ := ctx.Value(askerKey{}).(asker)
	return a
}

// PrincipalOf returns who asks. // extra:erasure|tenants {
func PrincipalOf(ctx context.Context) admission.Principal { return askerOf(ctx).Principal } // extra:erasure|tenants }

// As returns a context in which the principal asks. // extra:websocket {
func As(ctx context.Context, principal admission.Principal) context.Context {
	a := askerOf(ctx)
	a.Principal = principal
	return context.WithValue(ctx, askerKey{}, a)
} // extra:websocket }

// admit determines who sends a request and whether queries are allowed.
func (h *Handler) admit(r *http.Request, stage admission.Stage) (asker, error) {
	a := asker{canStream: stage != admission.Request}
	a.guard = admission.Of(r) // extra:access|operate|tenants|websocket
	tenant, err := TenantOf(r.Header)
	principal, refusal := admission.Enter(r, admission.Ask{Stage: stage, Rights: []admission.Right{admission.Read}, Tenant: tenant})
	if refusal != nil {
		return a, refusal
	}
	a.Principal = principal
	if tokens, named := r.Header[consistencyHeader]; named && err == nil {
		a.tokens, err = h.queries.ParseTokens(strings.Join(tokens, ","))
	}
	return a, err
}

// TenantOf reads the tenant from its header, which must be there once: a proxy may have checked only the first.
func TenantOf(header http.Header) (es.Tenant, error) {
	codes := header.Values(tenantHeader)
	if len(codes) == 0 {
		return "", nil
	}
	tenant, err := es.ParseTenant(codes[0])
	if err != nil || len(codes) > 1 || tenant == "" {
		return "", &ident.InvalidError{Field: tenantHeader, Reason: "must be 1 to 32 characters out of a-z, 0-9 and -, and be sent once"}
	}
	return tenant, nil
}

// ViewerOf returns the viewer that an operation names, or the principal's account, if the principal may act for it.
func ViewerOf(ctx context.Context, userAccountID string) (query.Viewer, error) {
	a := askerOf(ctx)
	named, err := a.named(userAccountID)
	if err != nil {
		return query.Viewer{}, err
	}
	user, err := a.For(named)
	return query.Viewer{Tenant: a.Tenant, User: user}, err
}

// OnlyOperators returns an error unless an operator of the service asks. // extra:history|tenants {
func OnlyOperators(ctx context.Context) error {
	if !askerOf(ctx).May(admission.Operate) {
		return admission.Forbidden("only operators of the service may ask this")
	}
	return nil
} // extra:history|tenants }

// named reads the argument userAccountId, which a known principal may leave out.
func (a asker) named(userAccountID string) (ident.UserID, error) {
	leftOut := userAccountID == "" || userAccountID == "null" // gqlgen reads null as "null"
	if a.IsKnown() && leftOut {
		return ident.UserID{}, nil
	}
	return ParseID[ident.UserAccount]("userAccountId", userAccountID)
}

// ParseID reads the id in the named argument.
func ParseID[T any](argument, text string) (ident.Of[T], error) {
	id, err := ident.Parse[T](text)
	if err != nil {
		return id, &ident.InvalidError{Field: argument, Reason: "must be a ULID of 26 characters"}
	}
	return id, nil
}

// limit returns the length of a page: the requested one or the default.
func limit(argument string, asked *int, usual int) (int, error) {
	if asked == nil {
		return usual, nil
	}
	if *asked < 1 || *asked > query.MaxPage {
		return 0, &ident.InvalidError{Field: argument, Reason: fmt.Sprintf("must be 1 to %d", query.MaxPage)}
	}
	return *asked, nil
}

// each converts the rows of a list.
func each[S, T any](items []S, convert func(S) T) []T {
	converted := make([]T, len(items))
	for i, item := range items {
		converted[i] = convert(item)
	}
	return converted
}

// MarshalTime writes the scalar Time.
func MarshalTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) {
		_, _ = io.WriteString(w, t.UTC().Format(`"2006-01-02T15:04:05.000000Z"`))
	})
}

var errNoArgument = errors.New("this type is never an argument")

// UnmarshalTime always fails.
func UnmarshalTime(any) (time.Time, error) { return time.Time{}, errNoArgument }

// MarshalJSON writes the scalar JSON: a value that is already encoded. // extra:history {
func MarshalJSON(encoded []byte) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(encoded) })
}

// UnmarshalJSON always fails.
func UnmarshalJSON(any) ([]byte, error) { return nil, errNoArgument } // extra:history }
