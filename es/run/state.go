package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

// State is what an updater tells of itself.
type State struct {
	Active            bool // false: it stands by, because another process writes the read model
	Lag               projection.Lag
	CaughtUp          bool // the read model has, at least once since its tables were created
	ParkedAggregates  *int // nil while the database does not answer
	DriftedAggregates int  // whose rows differ from the journal, of those verified so far
	RepairDue         bool
	Rebuild           rowstore.RebuildState // unfinished; zero: there is none
	RebuiltAt         time.Time             // of the last rebuild; zero: it is not done, or there was none
	// Checks has the conditions of being ready, by name, with the reason why each fails, for anybody; "": it passes.
	Checks   map[string]string
	Warnings []string // for operators

	gauges          []Gauge // of unknown types, and of the consumers
	ahead, outdated int     // aggregates whose rows are ahead of the journal, types whose rows are outdated
}

// Ready: no operator has to act, and the read model has caught up once. A lag alone does not make it unready.
func (s State) Ready() bool {
	for _, reason := range s.Checks {
		if reason != "" {
			return false
		}
	}
	return s.CaughtUp
}

const (
	// checkTimeout is below five seconds, the usual limit of container health checks.
	checkTimeout = 2 * time.Second
	// reportsWithin is how old a report of the process that has the turn may be: it stores one every ten seconds.
	reportsWithin = 30 * time.Second
)

// Look collects the updater's state. Causes of failures are logged, and not in the result.
func (u *Updater) Look(ctx context.Context) State {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	found := State{Checks: map[string]string{}, Lag: projection.Lag{Behind: time.Since(u.since), AtLeast: true}}
	opened, turn := u.opened.Load(), u.turn.Load()
	if opened == nil {
		for _, name := range []string{"database", "stream", "processes"} {
			u.check(ctx, &found, name, errNotOpen)
		}
		return found
	}
	parked, err := opened.store.CountParked(ctx)
	if err == nil {
		found.ParkedAggregates = &parked
		u.parked.Store(int64(parked))
		if found.Rebuild, err = opened.store.RebuildState(ctx); found.Rebuild.Failure != "" {
			found.Rebuild.Failure = inTheLog
		}
		if found.Rebuild.Over() {
			found.RebuiltAt, found.Rebuild = found.Rebuild.DoneAt(), rowstore.RebuildState{}
		}
	}
	if turn != nil {
		u.check(ctx, &found, "database", err)
		u.lookAtTurn(ctx, &found, turn)
	} else {
		report, readErr := rowstore.ReadReport(ctx, opened.Rows, u.options.ReadModel.Name)
		u.check(ctx, &found, "database", errors.Join(err, readErr))
		found.Lag, found.CaughtUp = report.Lag, report.CaughtUp
		if silent := time.Since(report.At); report.At.Unix() > 0 && silent > reportsWithin {
			found.Lag.Behind, found.Lag.AtLeast = found.Lag.Behind+silent, true
		}
	}
	advice := u.options.Advice
	if !found.Rebuild.Over() {
		found.Warnings = append(found.Warnings, warning(found.Rebuild, advice.Resume))
	}
	if found.ParkedAggregates != nil && *found.ParkedAggregates > 0 {
		found.Warnings = append(found.Warnings, fmt.Sprintf("%d aggregates are parked: their rows stay as they are; %s", *found.ParkedAggregates, advice.Parked))
	}
	if found.DriftedAggregates > 0 {
		found.Warnings = append(found.Warnings, fmt.Sprintf("the rows of %d aggregates differ from the journal: %s; if a handler was changed, raise its version",
			found.DriftedAggregates, advice.Drifted))
	}
	return found
}

// lookAtTurn collects the state of the projection while this process has the turn.
func (u *Updater) lookAtTurn(ctx context.Context, found *State, turn *Turn) {
	model := turn.model
	found.Active, found.CaughtUp, found.Lag = true, turn.caughtUp.Load(), model.Lag(ctx)
	found.RepairDue = !model.projector.RepairSince().IsZero()
	drift := model.projector.Drift()
	found.DriftedAggregates, found.ahead, found.outdated = drift.Wrong, drift.Ahead, len(*turn.keeper.outdated.Load())
	var failed []error
	for _, consumer := range turn.consumers {
		status, err := consumer.Check(ctx)
		failed = append(failed, err)
		found.Warnings = append(found.Warnings, status.Warnings...)
		found.gauges = append(found.gauges, status.Gauges...)
	}
	versions, journal, versionWarning := turn.keeper.reasons()
	u.check(ctx, found, "stream", errors.Join(turn.databases.Trouble(ctx), model.source.Health()))
	u.check(ctx, found, "processes", errors.Join(failed...))
	found.Checks["aggregate_types"], found.Checks["row_versions"], found.Checks["rows_ahead"] = u.unknownTypes(found, turn), versions, journal
	if versionWarning != "" {
		found.Warnings = append(found.Warnings, versionWarning)
	}
}

// check records the result of a check. The cause of a failure goes to the log only, unless it says what may be told.
func (u *Updater) check(ctx context.Context, found *State, name string, err error) {
	found.Checks[name] = ""
	if err != nil {
		u.options.Log.WarnContext(ctx, "not ready", "check", name, "error", err)
		found.Checks[name] = cmp.Or(es.PublicReason(err), name+" can't be used or stands still; the log says why")
	}
}

// unknownTypes counts the unregistered types with events, and returns the reason to be unready; "": there are none.
func (u *Updater) unknownTypes(found *State, turn *Turn) string {
	var reasons []string
	for _, first := range turn.model.projector.Unregistered() {
		reason := fmt.Sprintf("there are events of the aggregate type %q (the first met: %s), which this program does not know: run one that does",
			first.Type, first)
		if ignore := u.options.Advice.Ignore; ignore != "" {
			reason += ", or " + ignore + first.Type
		}
		reasons = append(reasons, reason)
		found.gauges = append(found.gauges, Gauge{
			"projection_unregistered_type", "1 for each aggregate type that has events and that this program does not know.", 1,
			prometheus.Labels{"aggregate_type": first.Type},
		})
	}
	return strings.Join(reasons, "; ")
}

// Describe implements [prometheus.Collector]. It describes nothing, so that Collect may leave out what is unknown.
func (u *Updater) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector]: all gauges are of one look at the updater.
func (u *Updater) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*checkTimeout)
	defer cancel()
	found := u.Look(ctx)
	send := func(g Gauge) {
		metrics <- prometheus.MustNewConstMetric(prometheus.NewDesc(g.Name, g.Help, nil, g.Labels), prometheus.GaugeValue, g.Value)
	}
	gauge := func(name, help string, value float64) { send(Gauge{Name: name, Help: help, Value: value}) }
	gauge("projection_active", "1 while this process writes the read model, 0 while it stands by.", oneIf[found.Active])
	gauge("projection_ready", "1 while the updater is ready.", oneIf[found.Ready()])
	gauge("projection_lag_seconds", "Age of the oldest record that is not in the read model; 0 when there is none.", found.Lag.Behind.Seconds())
	gauge("projection_lag_records", "Records that are not in the read model.", float64(found.Lag.Records))
	gauge("projection_lag_at_least", "1 when projection_lag_seconds and projection_lag_records are lower bounds.", oneIf[found.Lag.AtLeast])
	gauge("projection_parked_aggregates", "Aggregates that wait for an event that can't be projected.", float64(u.parked.Load()))
	gauge("projection_drifted_aggregates", "Aggregates whose rows differ from the journal, of those verified so far.", float64(found.DriftedAggregates))
	gauge("projection_repair_due", "1 while a repair is due: rows may be missing until the comparison with the journal is done.", oneIf[found.RepairDue])

	gauge("projection_rebuild_running", "1 while a rebuild of the read model is unfinished.", oneIf[!found.Rebuild.Over()])
	gauge("projection_rebuild_events", "Events in the new rows of the rebuild.", float64(found.Rebuild.Done))
	gauge("projection_rebuild_events_expected", "Events that the rebuild is expected to project.", float64(found.Rebuild.Total))
	var rebuilt float64
	if !found.RebuiltAt.IsZero() {
		rebuilt = float64(found.RebuiltAt.UnixMilli()) / 1000
	}
	gauge("projection_rebuild_done_timestamp_seconds", "Unix time at which the last rebuild was done; 0 if unknown.", rebuilt)
	gauge("projection_rebuild_seconds_left", "Estimated time until the rebuild has read all events; 0 if unknown.", found.Rebuild.SecondsLeft)

	gauge("projection_aggregates_ahead", "Aggregates whose rows have events that the journal lacks, of those verified so far.", float64(found.ahead))
	gauge("projection_rows_outdated", "Aggregate types whose rows were made by another version of the program.", float64(found.outdated))
	for _, g := range found.gauges {
		send(g)
	}
}

var oneIf = map[bool]float64{true: 1} // and 0 for false
