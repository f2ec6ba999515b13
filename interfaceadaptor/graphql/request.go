package graphql

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/munnerz/goautoneg"

	"example.com/threads/domain/ident"
)

// The media types of an answer.
const (
	mediaJSON     = "application/json"
	mediaResponse = "application/graphql-response+json" // like mediaJSON, but the status shows whether it was executed
	mediaEvents   = "text/event-stream"
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

func wantsEvents(r *http.Request) bool {
	return r.Method != http.MethodHead && negotiate(r.Header) == mediaEvents
}

func wantsWebsocket(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// paramsOf reads the operation in a request. The status is for a request without one.
func paramsOf(w http.ResponseWriter, r *http.Request) (params *graphql.RawParams, status int, err error) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		params, err = paramsFromURL(r.URL)
		return params, http.StatusBadRequest, err
	}
	if !saysJSON(r.Header) {
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
	params, err = paramsFromJSON("body", body)
	return params, http.StatusBadRequest, err
}

func saysJSON(header http.Header) bool {
	types, encoding := header.Values("Content-Type"), header.Get("Content-Encoding")
	if len(types) != 1 || (encoding != "" && !strings.EqualFold(encoding, "identity")) {
		return false
	}
	media, details, err := mime.ParseMediaType(types[0])
	charset, named := details["charset"]
	return err == nil && media == mediaJSON && (!named || strings.EqualFold(charset, "utf-8"))
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

// paramsFromJSON reads an operation from a body or a payload; from names it in errors. A map keeps names that differ in
// case apart.
func paramsFromJSON(from string, raw []byte) (*graphql.RawParams, error) {
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
	if params.Variables, err = readObject("variables", variables); err == nil {
		params.Extensions, err = readObject("extensions", extensions)
	}
	return err
}

// readObject reads a JSON object; nil: it is missing or null. Numbers stay as written, because only the schema knows
// their types.
func readObject(name string, raw []byte) (object map[string]any, err error) {
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
