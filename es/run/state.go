package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/threads/es/projection"
)

// State is what an updater tells of itself.
type State struct {
	Active            bool // false: it stands by, because another process writes the read model
	Lag               projection.Lag
	CaughtUp          bool // the read model has, at least once since its tables were created
	ParkedAggregates  *int // nil while the database does not answer
	DriftedAggregates int  // whose rows differ from the journal, of those verified so far
	RepairDue         bool
	Rebuild           *Rebuilding // unfinished; nil: there is none
	Checks            []Check
	Warnings          []string // for operators

	gauges []Gauge // of the consumers
}

// Check is a condition of being ready.
type Check struct {
	Name   string
	Reason string // why it fails; anybody may be told. "": it passes
}

// Ready reports whether the updater is of use: no operator has to act, and the read model has caught up once. A lag
// alone does not make it unready.
func (s State) Ready() bool {
	for _, check := range s.Checks {
		if check.Reason != "" {
			return false
		}
	}
	return s.CaughtUp
}

// checkTimeout is below five seconds, the usual limit of container health checks.
const checkTimeout = 2 * time.Second

// Look collects the updater's state. Causes of failures are logged, and not in the result.
func (u *Updater) Look(ctx context.Context) State {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	found := State{Lag: projection.Lag{Behind: time.Since(u.since), AtLeast: true}}
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
		if found.Rebuild, err = opened.rebuilding(ctx); err == nil && found.Rebuild.Over {
			found.Rebuild = nil
		}
	}
	if turn != nil {
		u.check(ctx, &found, "database", err)
		u.lookAtTurn(ctx, &found, turn)
	} else {
		report, readErr := opened.store.Report(ctx)
		u.check(ctx, &found, "database", errors.Join(err, readErr))
		found.Lag = projection.Lag{Behind: report.Behind, Records: report.BehindRecords, AtLeast: report.AtLeast}
		found.CaughtUp = report.CaughtUp
	}
	advice := u.options.Advice
	if found.Rebuild != nil {
		found.Warnings = append(found.Warnings, found.Rebuild.warning(advice.Resume))
	}
	if found.ParkedAggregates != nil && *found.ParkedAggregates > 0 {
		found.Warnings = append(found.Warnings, fmt.Sprintf("%d aggregates are parked: their rows stay as they are; %s", *found.ParkedAggregates, advice.Parked))
	}
	if found.DriftedAggregates > 0 {
		found.Warnings = append(found.Warnings, fmt.Sprintf("the rows of %d aggregates differ from the journal: %s", found.DriftedAggregates, advice.Drifted))
	}
	return found
}

// lookAtTurn collects the state of the projection while this process has the turn.
func (u *Updater) lookAtTurn(ctx context.Context, found *State, turn *Turn) {
	model := turn.model
	found.Active, found.CaughtUp, found.Lag = true, turn.caughtUp.Load(), model.Lag(ctx)
	found.RepairDue = !model.projector.RepairSince().IsZero()
	found.DriftedAggregates = model.projector.Drift().Wrong
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
	found.Checks = append(found.Checks, Check{"aggregate_types", u.unknownTypes(turn)}, Check{"row_versions", versions}, Check{"rows_ahead", journal})
	if versionWarning != "" {
		found.Warnings = append(found.Warnings, versionWarning)
	}
}

// check records the result of a check. The cause of a failure goes to the log only, unless it says what may be told.
func (u *Updater) check(ctx context.Context, found *State, name string, err error) {
	if err == nil {
		found.Checks = append(found.Checks, Check{Name: name})
		return
	}
	u.options.Log.WarnContext(ctx, "not ready", "check", name, "error", err)
	reason := ""
	if public := interface{ Reason() string }(nil); errors.As(err, &public) {
		reason = public.Reason()
	}
	found.Checks = append(found.Checks, Check{name, cmp.Or(reason, name+" can't be used or stands still; the log says why")})
}

// unknownTypes returns the reason to be unready because of events of unregistered types; "": there are none.
func (u *Updater) unknownTypes(turn *Turn) (reason string) {
	for _, first := range turn.model.projector.Unregistered() {
		if reason != "" {
			reason += "; "
		}
		reason += fmt.Sprintf("there are events of the aggregate type %q (the first met: %s), which this program does not know: "+
			"run one that does, or %s%s", first.Type, first, u.options.Advice.Ignore, first.Type)
	}
	return reason
}
