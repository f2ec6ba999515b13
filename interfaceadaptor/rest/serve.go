package rest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"example.com/threads/extras/tasks"
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
		if op.Stream != nil {
			a.serveStream(w, r, op, conditions)
			return
		}
		raw, problem := readBody(w, r)
		if problem != nil {
			problem.write(w)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), a.settings.Timeout)
		defer cancel()
		status := op.successStatus()
		request, err := op.Do.prepare(conditions, raw)
		var answer Reply
		switch {
		case err != nil:
		case op.later() && a.settings.Tasks != nil && prefersLater(r.Header):
			answer, err = a.later(ctx, op, conditions, request, raw)
			status = http.StatusAccepted
		default:
			answer, err = request.execute(ctx)
		}
		if err != nil {
			a.fail(w, r, err)
			return
		}
		answer.write(w, status)
	}
}

// later makes a task of a command.
func (a *api) later(ctx context.Context, op Operation, c Conditions, request prepared, raw []byte) (Reply, error) {
	c.Caller = request.caller
	asked, err := askedOf(c)
	if err != nil {
		return Reply{}, err
	}
	answer, err := accepted(a.settings.Tasks.Later(ctx, asked, tasks.Later{
		Path: op.Path, Body: raw, IdempotencyKey: c.IdempotencyKey, IfVersion: c.IfVersion,
	}, request.name, request.content))
	if err == nil {
		answer.headers[preferenceApplied] = respondAsync
	}
	return answer, err
}

// serveStream serves an operation whose body is lines.
func (a *api) serveStream(w http.ResponseWriter, r *http.Request, op Operation, c Conditions) {
	if problem := c.nameExecutor(r.Header); problem != nil {
		problem.write(w)
		return
	}
	if !says(r.Header, mediaNDJSON) {
		unsupported(mediaNDJSON).write(w)
		return
	}
	if r.ContentLength > MaxImport {
		importTooLarge().write(w)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), importTimeout)
	defer cancel()
	deadlines, until := http.NewResponseController(w), time.Now().Add(importTimeout)
	_, _ = deadlines.SetReadDeadline(until), deadlines.SetWriteDeadline(until) // or else the server's hold
	body := &arriving{reader: http.MaxBytesReader(w, r.Body, MaxImport)}
	answer, err := op.Stream(ctx, c, body)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		importTooLarge().write(w)
	case body.err != nil && !errors.Is(body.err, io.EOF):
		malformed("the body did not arrive whole").write(w)
	case err != nil:
		a.fail(w, r, err)
	default:
		answer.write(w, op.successStatus())
	}
}

func unsupported(media string) *Problem {
	return newProblem(http.StatusUnsupportedMediaType, unsupportedMediaType, "send the body as "+media+" in UTF-8, not encoded otherwise")
}

func requestTooLarge() *Problem {
	return newProblem(http.StatusRequestEntityTooLarge, bodyTooLarge, "the body must have at most 65536 bytes")
}

func importTooLarge() *Problem {
	return newProblem(http.StatusRequestEntityTooLarge, bodyTooLarge, "the body must have at most 16777216 bytes; send the rest as another import")
}

// arriving is a body that remembers why it ended.
type arriving struct {
	reader io.Reader
	err    error
}

func (b *arriving) Read(p []byte) (int, error) {
	n, err := b.reader.Read(p)
	if err != nil {
		b.err = err
	}
	return n, err
}

// readBody reads the JSON of a request.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *Problem) {
	if !says(r.Header, mediaJSON) {
		return nil, unsupported(mediaJSON)
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
		return problemOf(err)
	}
	problem := problemOf(err)
	switch problem.Code {
	case internal:
		a.settings.Log.ErrorContext(r.Context(), "a command failed", "path", r.URL.Path, "error", err)
	case storeUnavailable:
		a.settings.Log.WarnContext(r.Context(), "the store is unavailable", "path", r.URL.Path, "error", err)
	}
	return problem
}

// write answers with the reply.
func (r Reply) write(w http.ResponseWriter, status int) {
	for name, value := range r.headers {
		w.Header().Set(name, value)
	}
	w.Header().Set("Content-Type", mediaJSON)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(r.body) // fails only when the client has gone
}
