package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/interfaceadaptor/stream/dynamodbstreams"
)

// gauges are what is measured when somebody asks for metrics.
type gauges struct {
	ready, lagSeconds, lagRecords, lagAtLeast, parked, repairDue prometheus.Gauge
}

func newWatch(registry prometheus.Registerer, work *updater) *watch {
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
		registry.MustRegister(g)
		return g
	}
	registerCounters(registry, work)
	return &watch{updater: work, since: time.Now(), gauges: &gauges{
		ready:      gauge("projection_ready", "1 while database and stream are reached and every shard moves."),
		lagSeconds: gauge("projection_lag_seconds", "Age of the oldest record that is not in the read model; 0 when there is none."),
		lagRecords: gauge("projection_lag_records", "Records that are not in the read model."),
		lagAtLeast: gauge("projection_lag_at_least", "1 when the read model may be further behind than the other two say."),
		parked:     gauge("projection_parked_threads", "Threads that wait for an event that can't be projected."),
		repairDue:  gauge("projection_repair_due", "1 while what the stream has forgotten is still to be taken from the journal."),
	}}
}

// measure sets the gauges to what holds now.
func (w *watch) measure(ctx context.Context) {
	found := w.look(ctx)
	w.gauges.ready.Set(oneIf(found.Status == "ready"))
	w.gauges.lagSeconds.Set(found.BehindSeconds)
	w.gauges.lagRecords.Set(float64(found.BehindRecords))
	w.gauges.lagAtLeast.Set(oneIf(found.BehindAtLeast))
	w.gauges.repairDue.Set(oneIf(found.RepairDue))
	if found.ParkedThreads != nil {
		w.gauges.parked.Set(float64(*found.ParkedThreads))
	}
}

func oneIf(condition bool) float64 {
	if condition {
		return 1
	}
	return 0
}

// registerCounters offers what the source counts.
func registerCounters(registry prometheus.Registerer, work *updater) {
	for _, counter := range []struct {
		name, help string
		of         func(*dynamodbstreams.Counters) *atomic.Int64
	}{
		{"stream_polls_total", "Polls of the stream that were answered.", func(c *dynamodbstreams.Counters) *atomic.Int64 { return &c.Polls }},
		{"stream_polls_empty_total", "Polls that brought no record.", func(c *dynamodbstreams.Counters) *atomic.Int64 { return &c.Empty }},
		{"stream_failures_total", "Calls and batches that failed and were tried again.", func(c *dynamodbstreams.Counters) *atomic.Int64 { return &c.Failures }},
		{"stream_records_total", "Records handed to the projection.", func(c *dynamodbstreams.Counters) *atomic.Int64 { return &c.Records }},
		{"stream_records_unreadable_total", "Records that can't be read as an event.", func(c *dynamodbstreams.Counters) *atomic.Int64 { return &c.Unreadable }},
		{"stream_items_skipped_total", "New items of the journal table that are no entries of a thread.", func(c *dynamodbstreams.Counters) *atomic.Int64 { return &c.Skipped }},
		{"stream_records_ignored_total", "Changes and deletions in the journal table.", func(c *dynamodbstreams.Counters) *atomic.Int64 { return &c.Ignored }},
		{"stream_iterators_expired_total", "Iterators that had to be replaced.", func(c *dynamodbstreams.Counters) *atomic.Int64 { return &c.Expired }},
		{"stream_positions_lost_total", "Positions that the stream had forgotten records behind.", func(c *dynamodbstreams.Counters) *atomic.Int64 { return &c.Lost }},
		{"projection_repairs_total", "Repairs from the journal that were completed.", func(c *dynamodbstreams.Counters) *atomic.Int64 { return &c.Repairs }},
	} {
		registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: counter.name, Help: counter.help}, func() float64 {
			if parts := work.parts.Load(); parts != nil {
				return float64(counter.of(parts.source.Counters()).Load())
			}
			return 0
		}))
	}
}
