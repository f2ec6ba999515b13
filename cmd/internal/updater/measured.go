package updater

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/usecase/projection"
)

// timed wraps the projector and measures the duration and the size of batches.
type timed struct {
	*projection.Projector
	outcomes *outcomeCounters
}

func (t timed) Project(ctx context.Context, batch projection.Batch) (projection.Outcome, error) {
	began := time.Now()
	outcome, err := t.Projector.Project(ctx, batch)
	if len(batch.Records) > 0 {
		t.outcomes.durations.Observe(time.Since(began).Seconds())
		t.outcomes.sizes.Observe(float64(len(batch.Records)))
	}
	return outcome, err
}

// outcomeCounters counts the results of projecting so far.
type outcomeCounters struct {
	applied, filled, duplicates, held, unreadable, unregistered, parked, released, repairs prometheus.Counter
	durations, sizes                                                                       prometheus.Histogram
}

func newOutcomes(registry prometheus.Registerer) *outcomeCounters {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		registry.MustRegister(c)
		return c
	}
	o := &outcomeCounters{
		applied:      counter("projection_events_applied_total", "Events from the source that were projected."),
		filled:       counter("projection_events_filled_total", "Events from the journal that filled a gap and were projected."),
		duplicates:   counter("projection_duplicates_total", "Records whose events were already projected."),
		held:         counter("projection_records_held_total", "Records that wait in the journal because their aggregate is parked."),
		unreadable:   counter("projection_records_unreadable_total", "Records that can't be read as an event of their type."),
		unregistered: counter("projection_records_unregistered_total", "Records of aggregate types that this program does not know."),
		parked:       counter("projection_parkings_total", "Times that an aggregate was parked, repeated parkings of the same one included."),
		released:     counter("projection_releases_total", "Times that a parked aggregate was released."),
		repairs:      counter("projection_repairs_total", "Comparisons of all aggregates with the journal that were completed."),
		durations: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "projection_batch_duration_seconds", Help: "Time until a batch of records was stored or failed.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
		sizes: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "projection_batch_records", Help: "Records in a batch.", Buckets: prometheus.ExponentialBuckets(1, 4, 7),
		}),
	}
	registry.MustRegister(o.durations, o.sizes)
	return o
}

func (o *outcomeCounters) count(outcome projection.Outcome) {
	o.applied.Add(float64(outcome.Applied))
	o.filled.Add(float64(outcome.Filled))
	o.duplicates.Add(float64(outcome.Duplicates))
	o.held.Add(float64(outcome.Held))
	o.unreadable.Add(float64(outcome.Unreadable))
	o.unregistered.Add(float64(outcome.Unregistered))
	o.parked.Add(float64(outcome.Parked))
	o.released.Add(float64(outcome.Released))
	o.repairs.Add(float64(outcome.Repairs))
}
