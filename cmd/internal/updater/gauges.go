package updater

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/es/stream"
)

// Describe implements [prometheus.Collector]. It describes nothing, so that Collect may leave out what is unknown.
func (w *healthWatch) Describe(chan<- *prometheus.Desc) {}

// Collect implements [prometheus.Collector]: all gauges are of one look at the updater.
func (w *healthWatch) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*checkTimeout)
	defer cancel()
	labelled := func(labels prometheus.Labels, name, help string, value float64) {
		metrics <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, labels), prometheus.GaugeValue, value)
	}
	gauge := func(name, help string, value float64) { labelled(nil, name, help, value) }
	found := w.look(ctx)
	gauge("projection_active", "1 while this process writes the read model, 0 while it stands by.", oneIf(found.Active))
	gauge("projection_ready", "1 while /health/ready answers 200.", oneIf(found.Status == "ready"))
	gauge("projection_lag_seconds", "Age of the oldest record that is not in the read model; 0 when there is none.", found.BehindSeconds)
	gauge("projection_lag_records", "Records that are not in the read model.", float64(found.BehindRecords))
	gauge("projection_lag_at_least", "1 when projection_lag_seconds and projection_lag_records are lower bounds.", oneIf(found.BehindAtLeast))
	gauge("projection_parked_aggregates", "Aggregates that wait for an event that can't be projected.", float64(w.parked.Load()))
	gauge("projection_drifted_aggregates", "Aggregates whose rows differ from the journal, of those verified so far (VERIFY_RATE).", float64(found.DriftedAggregates))
	gauge("projection_repair_due", "1 while a repair is due: rows may be missing until the comparison with the journal is done.", oneIf(found.RepairDue))

	rebuild := Rebuilding{}
	if found.Rebuild != nil {
		rebuild = *found.Rebuild
	}
	gauge("projection_rebuild_running", "1 while a rebuild of the read model is unfinished.", oneIf(found.Rebuild != nil))
	gauge("projection_rebuild_events", "Events in the new rows of the rebuild.", float64(rebuild.Events))
	gauge("projection_rebuild_events_expected", "Events that the rebuild is expected to project.", float64(rebuild.EventsTotal))
	gauge("projection_rebuild_seconds_left", "Estimated time until the rebuild has read all events; 0 if unknown.", rebuild.SecondsLeft)

	var ahead, outdated, outage, parked int
	var unpublished stream.Lag
	parts := w.follower.parts.Load()
	if parts != nil {
		ahead, outdated = parts.projector.Drift().Ahead, len(parts.keeper.outdatedTypes())
		for _, key := range parts.projector.Unregistered() {
			labelled(prometheus.Labels{"aggregate_type": key.Type}, "projection_unregistered_type",
				"1 for each aggregate type that has events and that this program does not know.", 1)
		}
		if counts := parts.process.counts.Load(); counts != nil {
			of := prometheus.Labels{"process": parts.process.name}
			labelled(of, "process_commands_waiting", "Commands of the process that are not decided yet.", float64(counts.waiting))
			labelled(of, "process_commands_failing", "Those of them that have failed at least once; threadctl dead-letters lists them.", float64(counts.failing))
			labelled(of, "process_parked_aggregates", "Aggregates that wait for an event that the process can't take in.", float64(counts.parked))
			labelled(of, "process_projection_lag_seconds", "Age of the oldest record that the process has not seen; 0 when there is none.", counts.lag.Seconds())
		}
	}
	if parts != nil && parts.published != nil {
		unpublished = parts.published.lag(ctx)
		if parts.published.publisher.Outage() != nil {
			outage = 1
		}
		parked, _ = parts.published.store.CountParked(ctx) // look reports a failure
	}
	gauge("projection_aggregates_ahead", "Aggregates whose rows have events that the journal lacks, of those verified so far.", float64(ahead))
	gauge("projection_rows_outdated", "Aggregate types whose rows were made by another version of the program.", float64(outdated))
	gauge("publisher_lag_seconds", "Age of the oldest event that is not published; 0 when there is none.", unpublished.Behind.Seconds())
	gauge("publisher_lag_records", "Known events that are not published.", float64(unpublished.Records))
	gauge("publisher_outage", "1 while the broker does not accept events, or has not answered for two seconds.", float64(outage))
	gauge("publisher_parked_aggregates", "Aggregates whose next event the broker has refused.", float64(parked))
}

func oneIf(condition bool) float64 {
	if condition {
		return 1
	}
	return 0
}
