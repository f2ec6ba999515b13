// extra:tasks
package rest

import (
	"context"
	"net/http"
	"reflect"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"example.com/threads/domain/ident"
	"example.com/threads/interfaceadaptor/admission"
)

// Served is an operation that serves itself: a GET, or a POST of lines of JSON. A header says who asks. Its path may
// have a name in braces, as in /threads/{thread_id}.
type Served struct {
	// Serve answers a request whose caller has an executor, or returns why not. Where it streams, it limits the time.
	Serve  func(w http.ResponseWriter, r *http.Request, c Conditions) error
	Lines  string       // an example of the body; empty: a GET
	Answer reflect.Type // of JSON; nil: lines of JSON
}

const (
	MediaLines     = "application/x-ndjson" // JSON, one a line
	executorHeader = "X-Executor-Id"        // says who asks where there is no body that could
)

var (
	executorMissing = malformed("the header %s must be sent once, and be a ULID of 26 characters or its UUID form", executorHeader)
	nameInPath      = regexp.MustCompile(`{(.*)}`)
)

func (s *Served) method() string {
	if s.Lines == "" {
		return http.MethodGet
	}
	return http.MethodPost
}

func (a *api) serveItself(w http.ResponseWriter, r *http.Request, op Operation, c Conditions) error {
	var named ident.UserID
	values := r.Header.Values(executorHeader)
	if len(values) > 0 || !c.Principal.IsKnown() { // a known principal may leave it out
		if len(values) != 1 || named.UnmarshalText([]byte(values[0])) != nil {
			return executorMissing
		}
	}
	executor, err := c.Principal.For(named)
	if err != nil {
		return err
	}
	c.Executor, c.Caller.Executor = executor, executor.String()
	served := op.Served
	if served.Lines != "" && !admission.Sends(r.Header, MediaLines) {
		return unsupported(MediaLines)
	}
	if served.Lines == "" && served.Answer != nil { // nothing is streamed
		ctx, cancel := context.WithTimeout(r.Context(), a.settings.Timeout)
		defer cancel()
		r = r.WithContext(ctx)
	}
	return served.Serve(w, r, c)
}

func (s *Served) describe(schemas huma.Registry, described *huma.Operation, done *huma.Response) {
	described.Method = s.method()
	described.Parameters = []*huma.Param{{
		Name: executorHeader, In: "header", Description: "The user account that asks; a caller who has an account may leave it out.",
		Schema: &huma.Schema{Type: huma.TypeString, Pattern: ulidPattern + "|" + uuidPattern, Examples: []any{exampleID}},
	}}
	if named := nameInPath.FindStringSubmatch(described.Path); named != nil {
		described.Parameters = append(described.Parameters, &huma.Param{
			Name: named[1], In: "path", Required: true, Description: "The " + strings.TrimSuffix(named[1], "_id") + ".",
			Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{exampleID}},
		})
	}
	if s.Lines != "" {
		described.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			MediaLines: {Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{s.Lines}}},
		}}
	}
	done.Description = described.Summary + "."
	done.Content = map[string]*huma.MediaType{MediaLines: {Schema: &huma.Schema{Type: huma.TypeString}}}
	if s.Answer != nil {
		done.Content = map[string]*huma.MediaType{MediaJSON: {Schema: schemas.Schema(s.Answer, true, "")}}
	}
}
