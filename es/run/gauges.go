package run

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

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
	gauge("projection_active", "1 while this process writes the read model, 0 while it stands by.", oneIf(found.Active))
	gauge("projection_ready", "1 while the updater is ready.", oneIf(found.Ready()))
	gauge("projection_lag_seconds", "Age of the oldest record that is not in the read model; 0 when there is none.", found.Lag.Behind.Seconds())
	gauge("projection_lag_records", "Records that are not in the read model.", float64(found.Lag.Records))
	gauge("projection_lag_at_least", "1 when projection_lag_seconds and projection_lag_records are lower bounds.", oneIf(found.Lag.AtLeast))
	gauge("projection_parked_aggregates", "Aggregates that wait for an event that can't be projected.", float64(u.parked.Load()))
	gauge("projection_drifted_aggregates", "Aggregates whose rows differ from the journal, of those verified so far.", float64(found.DriftedAggregates))
	gauge("projection_repair_due", "1 while a repair is due: rows may be missing until the comparison with the journal is done.", oneIf(found.RepairDue))

	rebuild := Rebuilding{}
	if found.Rebuild != nil {
		rebuild = *found.Rebuild
	}
	gauge("projection_rebuild_running", "1 while a rebuild of the read model is unfinished.", oneIf(found.Rebuild != nil))
	gauge("projection_rebuild_events", "Events in the new rows of the rebuild.", float64(rebuild.Events))
	gauge("projection_rebuild_events_expected", "Events that the rebuild is expected to project.", float64(rebuild.EventsTotal))
	gauge("projection_rebuild_seconds_left", "Estimated time until the rebuild has read all events; 0 if unknown.", rebuild.SecondsLeft)

	var ahead, outdated int
	if turn := u.turn.Load(); turn != nil {
		ahead, outdated = turn.model.projector.Drift().Ahead, len(turn.keeper.outdatedTypes())
		for _, key := range turn.model.projector.Unregistered() {
			send(Gauge{
				"projection_unregistered_type", "1 for each aggregate type that has events and that this program does not know.", 1,
				prometheus.Labels{"aggregate_type": key.Type},
			})
		}
	}
	gauge("projection_aggregates_ahead", "Aggregates whose rows have events that the journal lacks, of those verified so far.", float64(ahead))
	gauge("projection_rows_outdated", "Aggregate types whose rows were made by another version of the program.", float64(outdated))
	for _, g := range found.gauges {
		send(g)
	}
}

func oneIf(condition bool) float64 {
	if condition {
		return 1
	}
	return 0
}
