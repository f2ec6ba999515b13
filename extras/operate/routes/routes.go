// Package routes serves what operators do on the page, below /operate of the read-model-updater. threadctl does the
// same and more. See extras/operate/README.md.
package routes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/run"
	"example.com/threads/extras/operate"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/interfaceadaptor/admission"
)

const (
	maxOrder      = 16 << 10 // bytes of a body
	verifyTimeout = 20 * time.Second
	maxDifference = 100 // differences in an answer
)

type operations struct {
	updater *run.Updater
	log     *slog.Logger
}

// AddTo adds the routes. Callers need the right to operate the service.
func AddTo(mux *http.ServeMux, updater *run.Updater, log *slog.Logger) {
	o := &operations{updater, log}
	mux.HandleFunc("GET /operate/dead-letters", serve(o, func(ctx context.Context, _ struct{}, _ string) (any, error) { return o.list(ctx) }))
	mux.HandleFunc("POST /operate/dead-letters/retry", serve(o, o.retry))
	mux.HandleFunc("POST /operate/dead-letters/skip", serve(o, o.skip))
	mux.HandleFunc("POST /operate/rows/verify", serve(o, o.verify))
	mux.HandleFunc("POST /operate/rows/rebuild", serve(o, func(context.Context, struct{}, string) (any, error) { return o.rebuild() }))
}

// refused is a rejected request.
type refused struct {
	status       int
	code, detail string
}

func (r refused) Error() string { return r.detail }

// serve checks the caller's permission and answers in JSON, errors as problems. by names the caller, for the records.
func serve[B any](o *operations, do func(ctx context.Context, body B, by string) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		principal, err := admission.Of(r).Enter(admission.Ask{Rights: []admission.Right{admission.Operate}})
		var body B
		if err == nil && r.Method == http.MethodPost {
			err = decodeOrder(w, r, &body)
		}
		var answer any
		if err == nil {
			answer, err = do(r.Context(), body, cmp.Or(principal.Name(), "an operator (AUTH=none)"))
		}
		if err != nil {
			o.fail(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // fails only when the client has gone
	}
}

func decodeOrder(w http.ResponseWriter, r *http.Request, body any) error {
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); kind != "application/json" {
		return refused{http.StatusUnsupportedMediaType, "unsupported_media_type", "send application/json"}
	}
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOrder))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(body); err != nil {
		return refused{http.StatusBadRequest, "malformed_request", "the body is not what is expected here"}
	}
	return nil
}

func (o *operations) fail(w http.ResponseWriter, r *http.Request, err error) {
	var denied *admission.Refusal
	var no refused
	switch {
	case errors.As(err, &denied):
		denied.SetHeaders(w.Header())
		httpserver.WriteProblem(w, denied.Status, denied.Code, denied.Detail)
	case errors.As(err, &no):
		httpserver.WriteProblem(w, no.status, no.code, no.detail)
	case errors.Is(err, run.ErrStandingBy):
		httpserver.WriteProblem(w, http.StatusConflict, "standing_by", err.Error()+": ask the one that does, or wait until there is one")
	case errors.Is(err, rowstore.ErrNotParked):
		httpserver.WriteProblem(w, http.StatusConflict, "not_parked", "it is not parked on this event any more: list what is")
	default:
		o.log.WarnContext(r.Context(), "an operator's request failed", "error", err)
		httpserver.WriteProblem(w, http.StatusServiceUnavailable, "store_unavailable", "the databases can't be used now; the log says why")
	}
}

func (o *operations) list(ctx context.Context) (any, error) {
	db, err := o.updater.Database()
	if err != nil {
		return nil, err
	}
	letters, err := rowstore.Letters(ctx, db)
	shown := []operate.Letter{}
	for _, l := range letters {
		shown = append(shown, operate.LetterOf(l.Projection, l.DeadLetter))
	}
	return map[string]any{"parked": shown}, err
}

// order is a request about a parked aggregate.
type order struct {
	Projection string `json:"projection"`
	Tenant     string `json:"tenant"`
	AID        string `json:"aid"`
	SeqNr      uint64 `json:"seq_nr"` // with skip
	Reason     string `json:"reason"` // with skip
}

// find returns the projection's store and the aggregate's key.
func (o *operations) find(ask order) (*rowstore.Store, es.AggregateID, error) {
	db, err := o.updater.Database()
	if err != nil {
		return nil, es.AggregateID{}, err
	}
	key, err := es.ParseAggregateID(es.Tenant(ask.Tenant), ask.AID)
	if err != nil || key.Check() != nil || ask.Projection == "" {
		return nil, key, refused{http.StatusUnprocessableEntity, "invalid_request", "name projection, tenant and aid as the list does"}
	}
	store, err := rowstore.New(db, ask.Projection)
	return store, key, err
}

func (o *operations) retry(ctx context.Context, ask order, _ string) (any, error) {
	store, key, err := o.find(ask)
	if err != nil {
		return nil, err
	}
	return map[string]bool{"due": true}, store.Retry(ctx, key, time.Now())
}

func (o *operations) skip(ctx context.Context, ask order, by string) (any, error) {
	store, key, err := o.find(ask)
	if err != nil {
		return nil, err
	}
	reason := strings.TrimSpace(ask.Reason)
	if reason == "" || len(reason) > 1000 || ask.SeqNr == 0 {
		return nil, refused{http.StatusUnprocessableEntity, "invalid_request", "name the event by seq_nr, and say in reason, in 1000 bytes at most, why it is left out"}
	}
	return map[string]bool{"skipped": true}, store.SkipEvent(ctx, key, ask.SeqNr, reason, by, time.Now())
}

// rebuild requests a rebuild, which starts within a second or two. Health reports its progress.
func (o *operations) rebuild() (any, error) {
	return map[string]bool{"asked": true}, o.updater.Rebuild()
}

// verification is the result of comparing rows with the journal.
type verification struct {
	Verified    int                  `json:"verified"`
	Wrong       int                  `json:"wrong"`
	Repaired    int                  `json:"repaired"`
	Complete    bool                 `json:"complete"` // false: time was up; threadctl rows verify has no time limit
	Differences []operate.Difference `json:"differences"`
}

// verify compares the rows of all aggregates with the journal, within the time limit of a request.
func (o *operations) verify(ctx context.Context, ask struct {
	Repair bool `json:"repair"`
}, _ string,
) (any, error) {
	projector, err := o.updater.Projector()
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	found := verification{Differences: []operate.Difference{}}
	var mutex sync.Mutex
	err = projector.Aggregates(limited, func(ctx context.Context, key es.AggregateID) error {
		one, repaired, err := projector.VerifyOrRepair(ctx, key, ask.Repair)
		if err != nil {
			return fmt.Errorf("verify %s: %w", key, err)
		}
		mutex.Lock()
		defer mutex.Unlock()
		found.add(key, one, repaired)
		return nil
	})
	found.Complete = err == nil
	if limited.Err() != nil && ctx.Err() == nil {
		err = nil
	}
	return found, err
}

func (v *verification) add(key es.AggregateID, one projection.Verified, repaired bool) {
	v.Verified++
	if len(one.Differences) == 0 {
		return
	}
	v.Wrong++
	if repaired {
		v.Repaired++
	}
	for _, d := range one.Differences {
		if len(v.Differences) < maxDifference {
			v.Differences = append(v.Differences, operate.DifferenceOf(key, d, repaired))
		}
	}
}
