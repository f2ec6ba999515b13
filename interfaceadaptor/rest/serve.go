package rest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"example.com/threads/interfaceadaptor/access"
)

// MaxBody is the maximum size of a request body, in bytes.
const MaxBody = 64 << 10

// statusClientGone is logged and counted for a request whose client did not wait for the response; nginx introduced it.
const statusClientGone = 499

// serve returns the handler of an operation.
func (a *api) serve(op operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		principal, err := a.admit(w, r, op)
		if err != nil {
			deny(w, err)
			return
		}
		conditions, problem := readHeaders(a.headers, r.Header, op.without)
		if problem != nil {
			problem.write(w)
			return
		}
		if conditions.caller.Tenant, err = a.tenant(r.Context(), op, principal, conditions.caller.Tenant); err != nil {
			a.fail(w, r, err)
			return
		}
		handled, err := a.settings.Gate.Hold(a.settings.Gate.Client(principal, r), bodySize(r))
		if err != nil {
			deny(w, err)
			return
		}
		defer handled()
		raw, problem := readBody(w, r)
		if problem != nil {
			problem.write(w)
			return
		}
		conditions.principal = principal
		conditions.caller.Source = a.settings.Source + " " + op.path
		conditions.caller.ClientIP = a.settings.Gate.Proxies.ClientIP(r)

		ctx, cancel := context.WithTimeout(r.Context(), a.settings.Timeout)
		defer cancel()
		reply, err := op.perform.run(ctx, conditions, raw)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		reply.write(w, op.successStatus())
	}
}

// readBody reads the JSON of a request.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *Problem) {
	if !saysJSON(r.Header) {
		return nil, newProblem(http.StatusUnsupportedMediaType, unsupportedMediaType, "send the body as application/json in UTF-8, not encoded otherwise")
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, newProblem(http.StatusRequestEntityTooLarge, bodyTooLarge, "the body must have at most 65536 bytes")
	case err != nil:
		return nil, malformed("the body did not arrive whole")
	case !isJSON(raw):
		return nil, malformed("the body must be one JSON object in UTF-8 and nothing else")
	}
	return raw, nil
}

// bodySize is how much of the body is read at most.
func bodySize(r *http.Request) int {
	if r.ContentLength < 0 {
		return MaxBody
	}
	return int(min(r.ContentLength, MaxBody))
}

func saysJSON(header http.Header) bool {
	types, encoding := header.Values("Content-Type"), header.Get("Content-Encoding")
	if len(types) != 1 || (encoding != "" && !strings.EqualFold(encoding, "identity")) {
		return false
	}
	mediaType, params, err := mime.ParseMediaType(types[0])
	charset, has := params["charset"]
	return err == nil && mediaType == mediaJSON && (!has || strings.EqualFold(charset, "utf-8"))
}

// fail sends the error of a use case. Causes that the client does not see are logged.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(r.Context().Err(), context.Canceled) {
		w.WriteHeader(statusClientGone)
		return
	}
	if refusal := (*access.Refusal)(nil); errors.As(err, &refusal) {
		deny(w, err)
		return
	}
	problem := problemOf(err)
	switch problem.Code {
	case internal:
		a.settings.Log.ErrorContext(r.Context(), "a command failed", "path", r.URL.Path, "error", err)
	case storeUnavailable:
		a.settings.Log.WarnContext(r.Context(), "the store is unavailable", "path", r.URL.Path, "error", err)
	}
	problem.write(w)
}

// write answers with the reply.
func (r reply) write(w http.ResponseWriter, status int) {
	for name, value := range r.headers {
		w.Header().Set(name, value)
	}
	w.Header().Set("Content-Type", mediaJSON)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(r.body) // fails only when the client has gone
}
