package updater

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"example.com/threads/cmd/internal/readmodel"
)

// watch answers how the updater is.
type watch struct {
	follower *follower
	gauges   *gauges
	since    time.Time // when the program began
}

// Report is the answer of /health/ready.
type Report struct {
	readmodel.Health
	ParkedAggregates *int `json:"parked_aggregates"` // null while the database does not tell
	// DriftedAggregates are those whose rows are not what the journal says, as far as has been looked.
	DriftedAggregates int  `json:"drifted_aggregates"`
	RepairDue         bool `json:"repair_due"`
}

// checkTimeout is below the five seconds that health checks of containers usually allow.
const checkTimeout = 2 * time.Second

var errNoDatabase = errors.New("the database has not been reached yet")

// look finds out how the updater is. Causes of failures are logged, never told.
func (w *watch) look(ctx context.Context) Report {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	found := Report{Health: readmodel.NewHealth()}
	found.Behind(time.Since(w.since), 0, true)
	database, source := errNoDatabase, errNoDatabase
	processing, warning := errNoDatabase, ""
	caughtUp := false
	parts := w.follower.parts.Load()
	if parts != nil {
		var parked int
		if parked, database = parts.store.CountParked(ctx); database == nil {
			found.ParkedAggregates = &parked
		}
		lag := parts.lag(ctx)
		found.Behind(lag.Behind, lag.Records, lag.AtLeast)
		source, found.RepairDue = parts.source.Health(), !parts.projector.RepairSince().IsZero()
		caughtUp = parts.caughtUp.Load()
		processing, warning = parts.process.check(ctx)
		found.DriftedAggregates = parts.projector.Drift().Wrong
	}
	w.check(ctx, &found, "database", database)
	w.check(ctx, &found, "stream", source)
	w.check(ctx, &found, "processes", processing)
	found.Check("read_model", found.CatchingUp(caughtUp))
	found.Check("aggregate_types", unknownTypes(parts))
	if found.ParkedAggregates != nil && *found.ParkedAggregates > 0 {
		found.Warnings = append(found.Warnings, fmt.Sprintf(
			"%d aggregates are parked: their rows stay as they are; `threadctl dead-letters list` says why", *found.ParkedAggregates))
	}
	if found.DriftedAggregates > 0 {
		found.Warnings = append(found.Warnings, fmt.Sprintf(
			"the rows of %d aggregates are not what the journal says: `threadctl rows verify` tells of them, and mends them with --repair", found.DriftedAggregates))
	}
	if warning != "" {
		found.Warnings = append(found.Warnings, warning)
	}
	return found
}

// check takes in an error that is for the log alone.
func (w *watch) check(ctx context.Context, found *Report, name string, err error) {
	if err == nil {
		found.Check(name, "")
		return
	}
	w.follower.ports.Log.WarnContext(ctx, "not ready", "check", name, "error", err)
	found.Check(name, name+" can't be used or stands still; the log says why")
}

// unknownTypes is the reason to be unready that events of unregistered types are; "" where there are none.
func unknownTypes(parts *parts) (reason string) {
	if parts == nil {
		return ""
	}
	for _, first := range parts.projector.Unregistered() {
		if reason != "" {
			reason += "; "
		}
		reason += fmt.Sprintf("there are events of the aggregate type %q (the first met: %s), which this program does not know: "+
			"run one that does, or set IGNORE_AGGREGATE_TYPES=%s", first.Type, first, first.Type)
	}
	return reason
}

// ready answers /health/ready: 503 when something needs an operator's eye or the read model has never caught up; being
// behind alone does not make it unready.
func (w *watch) ready(response http.ResponseWriter, r *http.Request) {
	found := w.look(r.Context())
	found.Answer(response, found)
}
