package updater

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"example.com/threads/interfaceadaptor/stream"
)

// watch answers how the updater is.
type watch struct {
	updater *updater
	gauges  *gauges
	since   time.Time // when the program began
}

// Report is the answer of /health/ready.
type Report struct {
	Status        string            `json:"status"`
	Checks        map[string]string `json:"checks"`
	BehindSeconds float64           `json:"behind_seconds"`
	BehindRecords int               `json:"behind_records"`
	BehindAtLeast bool              `json:"behind_at_least"`
	ParkedThreads *int              `json:"parked_threads"` // null while the database does not tell
	RepairDue     bool              `json:"repair_due"`
}

// checkTimeout is below the five seconds that health checks of containers usually allow.
const checkTimeout = 2 * time.Second

var errNoDatabase = errors.New("the database has not been reached yet")

// look finds out how the updater is. Causes of failures are logged, never told.
func (w *watch) look(ctx context.Context) Report {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	parked, lag := (*int)(nil), stream.Lag{Behind: time.Since(w.since), AtLeast: true}
	database, source, due := errNoDatabase, errNoDatabase, false
	if parts := w.updater.parts.Load(); parts != nil {
		var count int
		if count, database = parts.store.CountParked(ctx); database == nil {
			parked = &count
		}
		source, due = parts.source.Health(), parts.source.RepairDue()
		lag = parts.source.Lag(ctx)
	}
	found := Report{
		Status: "ready", Checks: map[string]string{},
		BehindSeconds: lag.Behind.Seconds(), BehindRecords: lag.Records, BehindAtLeast: lag.AtLeast,
		ParkedThreads: parked, RepairDue: due,
	}
	for name, err := range map[string]error{"database": database, "stream": source} {
		found.Checks[name] = "ok"
		if err != nil {
			w.updater.log.WarnContext(ctx, "not ready", "check", name, "error", err)
			found.Status, found.Checks[name] = "not ready", "failed"
		}
	}
	return found
}

// ready answers /health/ready: 503 when something needs an operator's eye, being behind alone does not.
func (w *watch) ready(response http.ResponseWriter, r *http.Request) {
	found := w.look(r.Context())
	response.Header().Set("Content-Type", "application/json")
	response.Header().Set("Cache-Control", "no-store")
	if found.Status != "ready" {
		response.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(response).Encode(found)
}
