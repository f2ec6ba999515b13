package run

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"example.com/threads/es/projection"
)

// timed wraps the projector and measures the duration and the size of batches.
type timed struct {
	*projection.Projector
	outcomes *outcomes
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

// outcomeCounters are the totals of what became of records.
var outcomeCounters = []struct {
	name, help string
	of         func(projection.Outcome) int
}{
	{"projection_events_applied_total", "Events from the source that were projected.", func(o projection.Outcome) int { return o.Applied }},
	{"projection_events_filled_total", "Events from the journal that filled a gap and were projected.", func(o projection.Outcome) int { return o.Filled }},
	{"projection_duplicates_total", "Records whose events were already projected.", func(o projection.Outcome) int { return o.Duplicates }},
	{"projection_records_held_total", "Records that wait in the journal because their aggregate is parked.", func(o projection.Outcome) int { return o.Held }},
	{"projection_records_unreadable_total", "Records that can't be read as an event of their type.", func(o projection.Outcome) int { return o.Unreadable }},
	{"projection_records_unregistered_total", "Records of aggregate types that this program does not know.", func(o projection.Outcome) int { return o.Unregistered }},
	{"projection_parkings_total", "Times that an aggregate was parked, repeated parkings of the same one included.", func(o projection.Outcome) int { return o.Parked }},
	{"projection_releases_total", "Times that a parked aggregate was released.", func(o projection.Outcome) int { return o.Released }},
	{"projection_repairs_total", "Comparisons of all aggregates with the journal that were completed.", func(o projection.Outcome) int { return o.Repairs }},
}

// outcomes measures the results of projecting so far.
type outcomes struct {
	totals           []prometheus.Counter // in the order of outcomeCounters
	durations, sizes prometheus.Histogram
}

func newOutcomes(registry prometheus.Registerer) *outcomes {
	register := promauto.With(registry)
	o := &outcomes{
		durations: register.NewHistogram(prometheus.HistogramOpts{
			Name: "projection_batch_duration_seconds", Help: "Time until a batch of records was stored or failed.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
		sizes: register.NewHistogram(prometheus.HistogramOpts{
			Name: "projection_batch_records", Help: "Records in a batch.", Buckets: prometheus.ExponentialBuckets(1, 4, 7),
		}),
	}
	for _, c := range outcomeCounters {
		o.totals = append(o.totals, register.NewCounter(prometheus.CounterOpts{Name: c.name, Help: c.help}))
	}
	return o
}

func (o *outcomes) count(outcome projection.Outcome) {
	for i, c := range outcomeCounters {
		o.totals[i].Add(float64(c.of(outcome)))
	}
}
