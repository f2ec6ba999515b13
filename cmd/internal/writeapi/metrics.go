package writeapi

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"example.com/threads/es"
	"example.com/threads/infrastructure/metrics"
)

// measure registers the counters of services, and the metrics of their states and snapshots.
func measure(registry prometheus.Registerer, services es.Services) {
	total := func(name, help string, of func(*es.Counters) *atomic.Int64) {
		promauto.With(registry).NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() (sum float64) {
			for _, each := range services {
				sum += float64(of(each.Counters()).Load())
			}
			return sum
		})
	}
	total("commands_conflicts_total", "Writes that failed because another process was faster; they are decided again.",
		func(c *es.Counters) *atomic.Int64 { return &c.Conflicts })
	total("commands_given_up_total", "Commands that were given up because others kept changing the aggregate.",
		func(c *es.Counters) *atomic.Int64 { return &c.GivenUp })
	total("commands_inconsistent_total", "Times that a command found its aggregate's head and journal in contradiction; the log names it.",
		func(c *es.Counters) *atomic.Int64 { return &c.Inconsistent })
	for _, each := range services {
		registerCache(registry, each)
	}
}

// observer counts commands and writes of all aggregate types.
type observer struct {
	commands         *prometheus.CounterVec
	perWrite, events prometheus.Histogram
}

func newObserver(registry prometheus.Registerer) *observer {
	register := promauto.With(registry)
	sizes := func(name, help string) prometheus.Histogram {
		return register.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: []float64{1, 2, 4, 8, 16, 32, 64, es.MaxAppend}})
	}
	return &observer{
		commands: register.NewCounterVec(prometheus.CounterOpts{
			Name: "commands_total", Help: "Commands by name and outcome: accepted, replayed (a repeat with the same key), or the kind of the error.",
		}, []string{"command", "outcome"}),
		perWrite: sizes("commands_per_write", "Commands that were decided together and share a write to the event store."),
		events:   sizes("events_per_write", "Events of one write to the event store."),
	}
}

// Handled implements [es.Observer].
func (o *observer) Handled(name, outcome string) { o.commands.WithLabelValues(name, outcome).Inc() }

// Written implements [es.Observer].
func (o *observer) Written(commands, events int) {
	o.perWrite.Observe(float64(commands))
	o.events.Observe(float64(events))
}

// registerCache registers the metrics of the cache and the snapshots of an aggregate type.
func registerCache(registry prometheus.Registerer, from es.AnyService) {
	registry = prometheus.WrapRegistererWith(prometheus.Labels{"aggregate_type": from.Type()}, registry)
	counters := from.Counters()
	metrics.Total(registry, "state_cache_hits_total", "States of aggregates that were found in memory.", &counters.Hits)
	metrics.Total(registry, "state_cache_misses_total", "States of aggregates that were read from the event store.", &counters.Misses)
	metrics.Total(registry, "snapshots_written_total", "Snapshots that were written.", &counters.SnapshotsWritten)
	metrics.Total(registry, "snapshots_written_bytes_total", "Size of the snapshots that were written, before compression.", &counters.SnapshotBytes)
	metrics.Total(registry, "snapshots_failed_total", "Snapshots that could not be written; the next event of the aggregate tries again.", &counters.SnapshotsFailed)
	metrics.Total(registry, "snapshots_unreadable_total", "Snapshots that were skipped because they can't be read; the log names them.", &counters.SnapshotsUnreadable)
	gauge := func(name, help string, value func() float64) {
		promauto.With(registry).NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	gauge("state_cache_entries", "States of aggregates in memory.", func() float64 { states, _ := from.Cached(); return float64(states) })
	gauge("state_cache_bytes", "Estimated size of the states in memory.", func() float64 { _, bytes := from.Cached(); return float64(bytes) })
}
