package updater

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/usecase/projection"
)

// gauges are set on each request for metrics.
type gauges struct {
	active, rebuilding, rebuildEvents, rebuildTotal, rebuildLeft, ahead, outdated prometheus.Gauge
	ready, lagSeconds, lagRecords, lagAtLeast, parked, repairDue, drifted         prometheus.Gauge
	publishLagSeconds, publishLagRecords, publishOutage, publishParked            prometheus.Gauge
	unregistered                                                                  *prometheus.GaugeVec
}

func newGauges(registry prometheus.Registerer) *gauges {
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
		registry.MustRegister(g)
		return g
	}
	unregistered := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "projection_unregistered_type", Help: "1 for each aggregate type that has events and that this program does not know.",
	}, []string{"aggregate_type"})
	registry.MustRegister(unregistered)
	return &gauges{
		unregistered:      unregistered,
		active:            gauge("projection_active", "1 while this process writes the read model, 0 while it stands by."),
		rebuilding:        gauge("projection_rebuild_running", "1 while a rebuild of the read model is unfinished."),
		rebuildEvents:     gauge("projection_rebuild_events", "Events in the new rows of the rebuild."),
		rebuildTotal:      gauge("projection_rebuild_events_expected", "Events that the rebuild is expected to project."),
		rebuildLeft:       gauge("projection_rebuild_seconds_left", "Estimated time until the rebuild has read all events; 0 if unknown."),
		ahead:             gauge("projection_aggregates_ahead", "Aggregates whose rows have events that the journal lacks, of those verified so far."),
		outdated:          gauge("projection_rows_outdated", "Aggregate types whose rows were made by another version of the program."),
		ready:             gauge("projection_ready", "1 while /health/ready answers 200."),
		lagSeconds:        gauge("projection_lag_seconds", "Age of the oldest record that is not in the read model; 0 when there is none."),
		lagRecords:        gauge("projection_lag_records", "Records that are not in the read model."),
		lagAtLeast:        gauge("projection_lag_at_least", "1 when projection_lag_seconds and projection_lag_records are lower bounds."),
		parked:            gauge("projection_parked_aggregates", "Aggregates that wait for an event that can't be projected."),
		drifted:           gauge("projection_drifted_aggregates", "Aggregates whose rows differ from the journal, of those verified so far (VERIFY_RATE)."),
		publishLagSeconds: gauge("publisher_lag_seconds", "Age of the oldest event that is not published; 0 when there is none."),
		publishLagRecords: gauge("publisher_lag_records", "Known events that are not published."),
		publishOutage:     gauge("publisher_outage", "1 while the broker does not accept events."),
		publishParked:     gauge("publisher_parked_aggregates", "Aggregates whose next event the broker has refused."),
		repairDue:         gauge("projection_repair_due", "1 while a repair is due: rows may be missing until the comparison with the journal is done."),
	}
}

// measure sets the gauges to the current values.
func (w *healthWatch) measure(ctx context.Context) {
	found := w.look(ctx)
	w.gauges.ready.Set(oneIf(found.Status == "ready"))
	w.gauges.lagSeconds.Set(found.BehindSeconds)
	w.gauges.lagRecords.Set(float64(found.BehindRecords))
	w.gauges.lagAtLeast.Set(oneIf(found.BehindAtLeast))
	w.gauges.repairDue.Set(oneIf(found.RepairDue))
	w.gauges.active.Set(oneIf(found.Active))
	rebuild := Rebuilding{}
	if found.Rebuild != nil {
		rebuild = *found.Rebuild
	}
	w.gauges.rebuilding.Set(oneIf(found.Rebuild != nil))
	w.gauges.rebuildEvents.Set(float64(rebuild.Events))
	w.gauges.rebuildTotal.Set(float64(rebuild.EventsTotal))
	w.gauges.rebuildLeft.Set(rebuild.SecondsLeft)
	w.gauges.drifted.Set(float64(found.DriftedAggregates))
	w.gauges.ahead.Set(0)
	w.gauges.outdated.Set(0)
	if found.ParkedAggregates != nil {
		w.gauges.parked.Set(float64(*found.ParkedAggregates))
	}
	w.gauges.publishLagSeconds.Set(0)
	w.gauges.publishLagRecords.Set(0)
	w.gauges.publishOutage.Set(0)
	w.gauges.publishParked.Set(0)
	w.gauges.unregistered.Reset()
	if parts := w.follower.parts.Load(); parts != nil {
		w.gauges.ahead.Set(float64(parts.projector.Drift().Ahead))
		w.gauges.outdated.Set(float64(len(parts.keeper.outdatedTypes())))
		if published := parts.published; published != nil {
			lag := published.lag(ctx)
			w.gauges.publishLagSeconds.Set(lag.Behind.Seconds())
			w.gauges.publishLagRecords.Set(float64(lag.Records))
			w.gauges.publishOutage.Set(oneIf(published.publisher.Outage() != nil))
			if parked, err := published.store.CountParked(ctx); err == nil { // look reports a failure
				w.gauges.publishParked.Set(float64(parked))
			}
		}
		for _, key := range parts.projector.Unregistered() {
			w.gauges.unregistered.WithLabelValues(key.Type).Set(1)
		}
	}
}

func oneIf(condition bool) float64 {
	if condition {
		return 1
	}
	return 0
}

// registerDrift registers the counter of comparisons of rows with the journal.
func registerDrift(registry prometheus.Registerer, projector *projection.Projector) {
	registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "projection_verifications_total", Help: "Comparisons of an aggregate's rows with the journal (VERIFY_RATE).",
	}, func() float64 { return float64(projector.Drift().Checked) }))
}

// registerCounters registers the source's counters.
func registerCounters(registry prometheus.Registerer, source eventstore.Source) {
	for _, counter := range source.Counters() {
		registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: counter.Name, Help: counter.Help}, func() float64 {
			return float64(counter.Value.Load())
		}))
	}
}
