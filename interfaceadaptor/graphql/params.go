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

	"example.com/threads/domain/ident"
)

// paramsOf reads the operation in a request. The status is for a request without one.
func paramsOf(w http.ResponseWriter, r *http.Request) (params *graphql.RawParams, status int, err error) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		params, err = paramsFromURL(r.URL)
	} else {
		params, status, err = paramsFromBody(w, r)
	}
	switch {
	case err == nil:
		params.Headers = r.Header
	case status == 0:
		status = http.StatusBadRequest
	}
	return params, status, err
}

func paramsFromBody(w http.ResponseWriter, r *http.Request) (params *graphql.RawParams, status int, err error) {
	if !saysJSON(r.Header) {
		return nil, http.StatusUnsupportedMediaType, &ident.InvalidError{
			Field: "Content-Type", Reason: "must be application/json in UTF-8, not encoded otherwise",
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			status = http.StatusRequestEntityTooLarge
		}
		return nil, status, &ident.InvalidError{Field: "body", Reason: "must arrive completely and be 64 KiB at most"}
	}
	params, err = paramsFromJSON("body", body)
	return params, 0, err
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
	return params, readObjects(params, json.RawMessage(given.Get("variables")), json.RawMessage(given.Get("extensions")))
}

// paramsFromJSON reads an operation from a body or a payload; from names it in errors.
func paramsFromJSON(from string, raw []byte) (*graphql.RawParams, error) {
	var members map[string]json.RawMessage
	if !utf8.Valid(raw) || json.Unmarshal(raw, &members) != nil || members == nil {
		return nil, &ident.InvalidError{Field: from, Reason: "must be one JSON object in UTF-8 and nothing else"}
	}
	var query, operationName *string
	if json.Unmarshal(members["query"], &query) != nil || query == nil {
		return nil, errNoQuery
	}
	params := &graphql.RawParams{Query: *query}
	if name, given := members["operationName"]; given {
		if json.Unmarshal(name, &operationName) != nil {
			return nil, &ident.InvalidError{Field: "operationName", Reason: "must be a string or null"}
		}
		if operationName != nil {
			params.OperationName = *operationName
		}
	}
	return params, readObjects(params, members["variables"], members["extensions"])
}

var errNoQuery error = &ident.InvalidError{Field: "query", Reason: "must be given, and be a string"}

func readObjects(params *graphql.RawParams, variables, extensions json.RawMessage) (err error) {
	if params.Variables, err = readObject("variables", variables); err != nil {
		return err
	}
	params.Extensions, err = readObject("extensions", extensions)
	return err
}

// readObject reads a JSON object; nil: it is missing or null. Numbers stay as written, because only the schema knows
// their types.
func readObject(name string, raw json.RawMessage) (object map[string]any, err error) {
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
