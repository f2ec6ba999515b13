package updater

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/usecase/projection"
)

// measured is the projector, with what becomes of batches counted.
type measured struct {
	projector *projection.Projector
	outcomes  *outcomes
}

func (m measured) Project(ctx context.Context, batch projection.Batch) (projection.Outcome, error) {
	began := time.Now()
	outcome, err := m.projector.Project(ctx, batch)
	if len(batch.Records) > 0 {
		m.outcomes.durations.Observe(time.Since(began).Seconds())
	}
	m.outcomes.count(outcome)
	return outcome, err
}

func (m measured) Repair(ctx context.Context) (projection.Outcome, error) {
	outcome, err := m.projector.Repair(ctx)
	m.outcomes.count(outcome)
	return outcome, err
}

func (m measured) retryParked(ctx context.Context) error {
	outcome, err := m.projector.RetryParked(ctx)
	m.outcomes.count(outcome)
	return err
}

// outcomes is what has become of the events so far.
type outcomes struct {
	applied, filled, duplicates, held, unusable, parked, released prometheus.Counter
	durations                                                     prometheus.Histogram
}

func newOutcomes(registry prometheus.Registerer) *outcomes {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		registry.MustRegister(c)
		return c
	}
	o := &outcomes{
		applied:    counter("projection_events_applied_total", "Events that came from the stream and went into the read model."),
		filled:     counter("projection_events_filled_total", "Events that filled a gap: taken from the journal into the read model."),
		duplicates: counter("projection_duplicates_total", "Records whose events were in the read model before."),
		held:       counter("projection_records_held_total", "Records that wait in the journal because their thread is parked."),
		unusable:   counter("projection_records_unusable_total", "Records that named no event of a thread."),
		parked:     counter("projection_parkings_total", "Times that a thread was parked, repeated parkings of the same thread included."),
		released:   counter("projection_releases_total", "Times that a parked thread could go on."),
		durations: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "projection_batch_duration_seconds", Help: "Time that a batch of records took to be stored, or to fail.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
	}
	registry.MustRegister(o.durations)
	return o
}

func (o *outcomes) count(outcome projection.Outcome) {
	o.applied.Add(float64(outcome.Applied))
	o.filled.Add(float64(outcome.Filled))
	o.duplicates.Add(float64(outcome.Duplicates))
	o.held.Add(float64(outcome.Held))
	o.unusable.Add(float64(outcome.Unusable))
	o.parked.Add(float64(outcome.Parked))
	o.released.Add(float64(outcome.Released))
}
