package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"example.com/threads/interfaceadaptor/admission"
)

// MaxBody is the maximum size of a request body, in bytes.
const MaxBody = 64 << 10

// statusClientGone is logged and counted for a request whose client did not wait for the response; nginx introduced it.
const statusClientGone = 499

// serve returns the handler of an operation.
func (a *api) serve(op Operation) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conditions, problem := a.conditions(w, r, op)
		if problem != nil {
			problem.write(w)
			return
		}
		raw, problem := readBody(w, r)
		if problem != nil {
			problem.write(w)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), a.settings.Timeout)
		defer cancel()
		request, err := op.Prepare(conditions, raw)
		var answer Reply
		if err == nil {
			answer, err = a.perform(ctx, r.Header, request)
		}
		if err != nil {
			a.fail(w, r, err)
			return
		}
		answer.Write(w, cmp.Or(answer.Status, op.successStatus()))
	}
}

func unsupported(media string) *Problem {
	return NewProblem(http.StatusUnsupportedMediaType, unsupportedMediaType, "send the body as "+media+" in UTF-8, not encoded otherwise")
}

func requestTooLarge() *Problem {
	return NewProblem(http.StatusRequestEntityTooLarge, BodyTooLarge, "the body must have at most 65536 bytes")
}

// readBody reads the JSON of a request.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *Problem) {
	if !says(r.Header, MediaJSON) {
		return nil, unsupported(MediaJSON)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, requestTooLarge()
	case err != nil:
		return nil, malformed("the body did not arrive whole")
	case !isJSON(raw):
		return nil, malformed("the body must be one JSON object in UTF-8 and nothing else")
	}
	return raw, nil
}

func says(header http.Header, media string) bool {
	types, encoding := header.Values("Content-Type"), header.Get("Content-Encoding")
	if len(types) != 1 || (encoding != "" && !strings.EqualFold(encoding, "identity")) {
		return false
	}
	if types[0] == media {
		return true // the usual form
	}
	mediaType, params, err := mime.ParseMediaType(types[0])
	charset, has := params["charset"]
	return err == nil && mediaType == media && (!has || strings.EqualFold(charset, "utf-8"))
}

// fail sends the error of a use case. Causes that the client does not see are logged.
func (a *api) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(r.Context().Err(), context.Canceled) {
		w.WriteHeader(statusClientGone)
		return
	}
	a.problemOf(w, r, err).write(w)
}

// problemOf converts an error, and logs it if it is not the client's.
func (a *api) problemOf(w http.ResponseWriter, r *http.Request, err error) *Problem {
	if refusal := (*admission.Refusal)(nil); errors.As(err, &refusal) {
		refusal.SetHeaders(w.Header())
		return ProblemOf(err)
	}
	problem := ProblemOf(err)
	switch problem.Code {
	case internal:
		a.settings.Log.ErrorContext(r.Context(), "a command failed", "path", r.URL.Path, "error", err)
	case storeUnavailable:
		a.settings.Log.WarnContext(r.Context(), "the store is unavailable", "path", r.URL.Path, "error", err)
	}
	return problem
}

// Write answers with the reply.
func (r Reply) Write(w http.ResponseWriter, status int) {
	for name, value := range r.Header {
		w.Header().Set(name, value)
	}
	w.Header().Set("Content-Type", MediaJSON)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(r.Body) // fails only when the client has gone
}
