package updater

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// watch answers how the updater is.
type watch struct {
	follower *follower
	gauges   *gauges
	since    time.Time // when the program began
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
	found := Report{Status: "ready", Checks: map[string]string{}, BehindSeconds: time.Since(w.since).Seconds(), BehindAtLeast: true}
	database, source := errNoDatabase, errNoDatabase
	if parts := w.follower.parts.Load(); parts != nil {
		var parked int
		if parked, database = parts.store.CountParked(ctx); database == nil {
			found.ParkedThreads = &parked
		}
		lag := parts.source.Lag(ctx)
		found.BehindSeconds, found.BehindRecords, found.BehindAtLeast = lag.Behind.Seconds(), lag.Records, lag.AtLeast
		source, found.RepairDue = parts.source.Health(), parts.source.RepairDue()
	}
	for name, err := range map[string]error{"database": database, "stream": source} {
		found.Checks[name] = "ok"
		if err != nil {
			w.follower.ports.Log.WarnContext(ctx, "not ready", "check", name, "error", err)
			found.Status, found.Checks[name] = "not ready", "failed"
		}
	}
	return found
}

// ready answers /health/ready: 503 when something needs an operator's eye, being behind alone does not.
func (w *watch) ready(response http.ResponseWriter, r *http.Request) {
	found := w.look(r.Context())
	response.Header().Set("Content-Type", "application/json")
	if found.Status != "ready" {
		response.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(response).Encode(found)
}
