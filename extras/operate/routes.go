// Package operate serves what operators do over HTTP, below /operate of the read-model-updater. threadctl (ctl) does
// the same and more. See extras/operate/README.md.
package operate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"golang.org/x/sync/semaphore"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/run"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/interfaceadaptor/admission"
)

// Advise names the commands of threadctl in what the updater tells operators.
func Advise(advice *run.Advice) {
	*advice = run.Advice{
		Parked:  "`threadctl dead-letters list` says why",
		Drifted: "`threadctl rows verify` lists them, and repairs them with --repair",
		Rebuild: "run `threadctl rows rebuild`, or set REBUILD=auto",
		Resume:  "`threadctl rows rebuild --resume` continues it, --cancel ends it",
		Ignore:  "set IGNORE_AGGREGATE_TYPES=",
	}
}

// Named names an aggregate for people and programs.
type Named struct {
	Tenant es.Tenant `json:"tenant"`
	AID    string    `json:"aid"`
}

func Name(id es.AggregateID) Named { return Named{id.Tenant, id.String()} }

// String returns the name in words.
func (n Named) String() string {
	if n.Tenant == "" {
		return n.AID
	}
	return n.AID + " of tenant " + n.Tenant.String()
}

// Letter is one of the dead letters of all projections, for people and programs.
type Letter struct {
	Named
	projection.DeadLetter
	Event any    `json:"event,omitempty"` // see [Payload]
	Next  string `json:"next,omitempty"`  // what to do
}

// Difference is a row that differs from the journal, for people and programs.
type Difference struct {
	Named
	projection.Difference
	Repaired bool   `json:"repaired"`
	Next     string `json:"next,omitempty"` // what to do
}

const (
	maxOrder       = 16 << 10 // bytes of a body
	maxLetters     = 10_000   // in an answer
	verifyTimeout  = 20 * time.Second
	maxDifferences = 100 // differences in an answer
)

type operations struct {
	stopping context.Context // ends the streams
	streams  *semaphore.Weighted
	updater  *run.Updater
	log      *slog.Logger
}

// AddTo adds the routes. Callers need the right to operate the service. Streams end with ctx.
func AddTo(ctx context.Context, mux chi.Router, updater *run.Updater, log *slog.Logger) {
	o := operations{ctx, semaphore.NewWeighted(maxStreams), updater, log}
	for _, each := range o.routes() {
		mux.HandleFunc(each.pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := each.serve(w, r); err != nil {
				o.fail(w, r, err)
			}
		})
	}
}

// route is a request, with values of the types of its body, if it has one, and of its answer.
type route struct {
	pattern      string
	body, answer any
	serve        func(http.ResponseWriter, *http.Request) error
}

func (o operations) routes() []route {
	return []route{
		{"GET /operate/events", nil, news{}, o.follow}, // answers with a stream of them
		answering("GET /operate/journal", nil, o.search),
		answering("GET /operate/dead-letters", nil, o.list),
		answering("POST /operate/dead-letters/retry", order{}, o.retry),
		answering("POST /operate/dead-letters/skip", order{}, o.skip),
		answering("POST /operate/rows/verify", order{}, o.verify),
		answering("POST /operate/rows/rebuild", order{}, o.rebuild),
	}
}

// Describe calls describe with each route, and with values of the types of its body, if it has one, and of its answer.
func Describe(describe func(pattern string, body, answer any)) {
	for _, each := range (operations{}).routes() {
		describe(each.pattern, each.body, each.answer)
	}
}

// order is the body of a request: which aggregate in which projection, and what to do with it.
type order struct {
	Projection string     `json:"projection"`
	Tenant     string     `json:"tenant"`
	AID        string     `json:"aid"`
	SeqNr      uint64     `json:"seq_nr"` // with skip
	Reason     string     `json:"reason"` // with skip
	Repair     bool       `json:"repair"` // with verify
	by         string     // names the caller, for the records
	values     url.Values // of the URL's query
}

// answering is a route that checks the caller's permission and answers in JSON.
func answering[A any](pattern string, body any, do func(context.Context, order) (A, error)) route {
	return route{pattern, body, *new(A), func(w http.ResponseWriter, r *http.Request) error {
		principal, err := admission.Enter(r, admission.Ask{Rights: []admission.Right{admission.Operate}})
		ask := order{values: r.URL.Query(), by: cmp.Or(principal.Name(), "an operator (AUTH=none)")}
		if err == nil && body != nil {
			err = ask.decode(w, r)
		}
		if err != nil {
			return err
		}
		answer, err := do(r.Context(), ask)
		if err == nil {
			httpserver.WriteJSON(w, http.StatusOK, answer)
		}
		return err
	}}
}

func refuse(status int, code, detail string) error {
	return &admission.Refusal{Status: status, Code: code, Detail: detail}
}

func (ask *order) decode(w http.ResponseWriter, r *http.Request) error {
	if !admission.Sends(r.Header, "application/json") {
		return refuse(http.StatusUnsupportedMediaType, "unsupported_media_type", "send application/json")
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOrder))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(ask)
	if _, after := decoder.Token(); err != nil || !errors.Is(after, io.EOF) {
		return refuse(http.StatusBadRequest, "malformed_request", "the body is not what is expected here")
	}
	return nil
}

func (o operations) fail(w http.ResponseWriter, r *http.Request, err error) {
	var refused *admission.Refusal
	switch {
	case errors.As(err, &refused):
		refused.SetHeaders(w.Header())
		httpserver.WriteProblem(w, refused.Status, refused.Code, refused.Detail)
	case errors.Is(err, run.ErrStandingBy):
		httpserver.WriteProblem(w, http.StatusConflict, "standing_by", err.Error()+": ask the one that does, or wait until there is one")
	case errors.Is(err, rowstore.ErrNotParked):
		httpserver.WriteProblem(w, http.StatusConflict, "not_parked", "it is not parked on this event any more: list what is")
	case es.KindOf(err) == es.Conflict:
		httpserver.WriteProblem(w, http.StatusConflict, "not_skippable", err.Error())
	default:
		o.log.WarnContext(r.Context(), "an operator's request failed", "error", err)
		httpserver.WriteProblem(w, http.StatusServiceUnavailable, "store_unavailable", "the databases can't be used now; the log says why")
	}
}

// letters is the answer of list.
type letters struct {
	Parked []Letter `json:"parked"`
}

func (o operations) list(ctx context.Context, _ order) (letters, error) {
	shown := letters{Parked: []Letter{}}
	databases, _, err := o.updater.Opened()
	if err != nil {
		return shown, err
	}
	found, err := rowstore.Letters(ctx, databases.Rows, maxLetters)
	for _, l := range found {
		shown.Parked = append(shown.Parked, Letter{Named: Name(l.Key), DeadLetter: l})
	}
	return shown, err
}

// find returns the projection's store and the aggregate's key.
func (o operations) find(ask order) (*rowstore.Store, es.AggregateID, error) {
	databases, _, err := o.updater.Opened()
	if err != nil {
		return nil, es.AggregateID{}, err
	}
	key, err := es.ParseAggregateID(es.Tenant(ask.Tenant), ask.AID)
	if err != nil || key.Check() != nil || ask.Projection == "" {
		return nil, key, refuse(http.StatusUnprocessableEntity, "invalid_request", "name projection, tenant and aid as the list does")
	}
	store, err := rowstore.New(databases.Rows, ask.Projection)
	if err != nil {
		err = refuse(http.StatusUnprocessableEntity, "invalid_request", err.Error())
	}
	return store, key, err
}

func (o operations) retry(ctx context.Context, ask order) (map[string]bool, error) {
	store, key, err := o.find(ask)
	if err == nil {
		err = store.Retry(ctx, key, time.Now())
	}
	return map[string]bool{"due": true}, err
}

func (o operations) skip(ctx context.Context, ask order) (map[string]bool, error) {
	store, key, err := o.find(ask)
	if err != nil {
		return nil, err
	}
	reason := strings.TrimSpace(ask.Reason)
	if reason == "" || len(reason) > 1000 || ask.SeqNr == 0 {
		return nil, refuse(http.StatusUnprocessableEntity, "invalid_request", "name the event by seq_nr, and say in reason, in 1000 bytes at most, why it is left out")
	}
	return map[string]bool{"skipped": true}, store.SkipEvent(ctx, key, ask.SeqNr, reason, ask.by, time.Now())
}

// rebuild requests a rebuild, which starts within a second or two. Health reports its progress.
func (o operations) rebuild(context.Context, order) (map[string]bool, error) {
	return map[string]bool{"asked": true}, o.updater.Rebuild()
}

// verification is the result of comparing rows with the journal.
type verification struct {
	Verified    int          `json:"verified"`
	Wrong       int          `json:"wrong"`
	Repaired    int          `json:"repaired"`
	Complete    bool         `json:"complete"` // false: time was up; threadctl rows verify has no time limit
	Differences []Difference `json:"differences"`
}

// verify compares the rows of all aggregates with the journal, within the time limit of a request.
func (o operations) verify(ctx context.Context, ask order) (verification, error) {
	found := verification{Differences: []Difference{}}
	projector, err := o.updater.Projector()
	if err != nil {
		return found, err
	}
	limited, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	err = projector.VerifyAll(limited, nil, ask.Repair, func(key es.AggregateID, one projection.Verified) error {
		found.Verified++
		if len(one.Differences) > 0 {
			found.Wrong++
		}
		if one.Repaired {
			found.Repaired++
		}
		for _, d := range one.Differences[:min(len(one.Differences), maxDifferences-len(found.Differences))] {
			found.Differences = append(found.Differences, Difference{Named: Name(key), Difference: d, Repaired: one.Repaired})
		}
		return nil
	})
	found.Complete = err == nil
	if limited.Err() != nil && ctx.Err() == nil {
		err = nil
	}
	return found, err
}
