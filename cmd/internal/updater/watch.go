package updater

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"example.com/threads/cmd/internal/readmodel"
	"example.com/threads/infrastructure/httpserver"
)

// healthWatch reports the updater's health.
type healthWatch struct {
	follower *journalFollower
	since    time.Time    // start of the program
	parked   atomic.Int64 // aggregates, as last known
}

// Report is the answer of /health/ready.
type Report struct {
	readmodel.Health
	// Active is false while the program stands by: another one writes the read model.
	Active           bool `json:"active"`
	ParkedAggregates *int `json:"parked_aggregates"` // null while the database does not answer
	// DriftedAggregates counts the aggregates whose rows differ from the journal, of those verified so far.
	DriftedAggregates int         `json:"drifted_aggregates"`
	RepairDue         bool        `json:"repair_due"`
	Rebuild           *Rebuilding `json:"rebuild,omitempty"` // unfinished
}

// checkTimeout is below five seconds, the usual limit of container health checks.
const checkTimeout = 2 * time.Second

var errNoDatabase = errors.New("the database has not been reached yet")

// look collects the updater's state. Causes of failures are logged and not in the answer.
func (w *healthWatch) look(ctx context.Context) Report {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	found := Report{Health: readmodel.NewHealth(w.follower.ports.Access.Notes)}
	found.Behind(time.Since(w.since), 0, true)
	shared, parts := w.follower.shared.Load(), w.follower.parts.Load()
	if shared == nil {
		for _, name := range []string{"database", "stream", "processes"} {
			w.check(ctx, &found, name, errNoDatabase)
		}
		found.Check("read_model", found.CatchingUp(false))
		return found
	}
	parked, err := shared.store.CountParked(ctx)
	if err == nil {
		found.ParkedAggregates = &parked
		w.parked.Store(int64(parked))
		if found.Rebuild, err = shared.rebuilding(ctx); err == nil && found.Rebuild.Over {
			found.Rebuild = nil
		}
	}
	if parts != nil {
		w.check(ctx, &found, "database", err)
		w.lookAtTurn(ctx, &found, parts)
	} else {
		report, readErr := shared.store.Report(ctx)
		w.check(ctx, &found, "database", errors.Join(err, readErr))
		found.Behind(report.Behind, report.BehindRecords, report.AtLeast)
		found.Check("read_model", found.CatchingUp(report.CaughtUp))
	}
	if found.Rebuild != nil {
		found.Warnings = append(found.Warnings, found.Rebuild.warning())
	}
	if found.ParkedAggregates != nil && *found.ParkedAggregates > 0 {
		found.Warnings = append(found.Warnings, fmt.Sprintf(
			"%d aggregates are parked: their rows stay as they are; `threadctl dead-letters list` says why", *found.ParkedAggregates))
	}
	if found.DriftedAggregates > 0 {
		found.Warnings = append(found.Warnings, fmt.Sprintf(
			"the rows of %d aggregates differ from the journal: `threadctl rows verify` lists them, and repairs them with --repair", found.DriftedAggregates))
	}
	return found
}

// lookAtTurn collects the state of the projection while this process has the turn.
func (w *healthWatch) lookAtTurn(ctx context.Context, found *Report, parts *turnParts) {
	found.Active = true
	lag := parts.lag(ctx)
	found.Behind(lag.Behind, lag.Records, lag.AtLeast)
	found.RepairDue = !parts.projector.RepairSince().IsZero()
	found.DriftedAggregates = parts.projector.Drift().Wrong
	processWarnings, processing := parts.process.check(ctx)
	if parts.published != nil {
		warnings, err := parts.published.check(ctx)
		processing = errors.Join(processing, err)
		found.Warnings = append(found.Warnings, warnings...)
	}
	versions, journal, versionWarning := parts.keeper.reasons(w.follower.settings.RebuildAuto)
	w.check(ctx, found, "stream", errors.Join(parts.journal(ctx), parts.source.Health()))
	w.check(ctx, found, "processes", processing)
	found.Check("read_model", found.CatchingUp(parts.caughtUp.Load()))
	found.Check("aggregate_types", unknownTypes(parts))
	found.Check("row_versions", versions)
	found.Check("rows_ahead", journal)
	found.Warnings = append(found.Warnings, processWarnings...)
	if versionWarning != "" {
		found.Warnings = append(found.Warnings, versionWarning)
	}
}

// check records a failure whose cause goes to the log only.
func (w *healthWatch) check(ctx context.Context, found *Report, name string, err error) {
	if err == nil {
		found.Check(name, "")
		return
	}
	w.follower.ports.Log.WarnContext(ctx, "not ready", "check", name, "error", err)
	found.Check(name, cmp.Or(httpserver.PublicReason(err), name+" can't be used or stands still; the log says why"))
}

// unknownTypes returns the reason to be unready because of events of unregistered types; "": there are none.
func unknownTypes(parts *turnParts) (reason string) {
	for _, first := range parts.projector.Unregistered() {
		if reason != "" {
			reason += "; "
		}
		reason += fmt.Sprintf("there are events of the aggregate type %q (the first met: %s), which this program does not know: "+
			"run one that does, or set IGNORE_AGGREGATE_TYPES=%s", first.Type, first, first.Type)
	}
	return reason
}

// ready answers /health/ready: 503 when an operator must act, or until the read model has caught up for the first time.
// A lag alone does not make the updater unready.
func (w *healthWatch) ready(response http.ResponseWriter, r *http.Request) {
	found := w.look(r.Context())
	found.Answer(response, found)
}
