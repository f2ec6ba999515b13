package es

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the metrics of services and repositories: a [prometheus.Collector]. Those of a program share one.
type Metrics struct {
	all                              []prometheus.Collector
	commands                         *prometheus.CounterVec // by name and outcome
	perWrite, events                 prometheus.Histogram
	conflicts, givenUp, inconsistent prometheus.Counter
	types                            func(aggregateType string) typeMetrics
}

// typeMetrics are those of an aggregate type.
type typeMetrics struct {
	hits, misses, written, writtenBytes, failed, unreadable prometheus.Counter
	states, bytes                                           prometheus.Gauge
}

// NewMetrics returns new metrics, which count from 0.
func NewMetrics() *Metrics {
	m := &Metrics{}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		made := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		m.all = append(m.all, made)
		return made
	}
	sizes := func(name, help string) prometheus.Histogram {
		made := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: []float64{1, 2, 4, 8, 16, 32, 64, MaxAppend}})
		m.all = append(m.all, made)
		return made
	}
	m.commands = counter("commands_total", "Commands by name and outcome: accepted, replayed (a repeat with the same key), or the kind of the error.",
		"command", "outcome")
	m.perWrite = sizes("commands_per_write", "Commands that were decided together and share a write to the event store.")
	m.events = sizes("events_per_write", "Events of one write to the event store.")
	m.conflicts = counter("commands_conflicts_total", "Writes that failed because another process was faster; they are decided again.").WithLabelValues()
	m.givenUp = counter("commands_given_up_total", "Commands that were given up because others kept changing the aggregate.").WithLabelValues()
	m.inconsistent = counter("commands_inconsistent_total",
		"Times that a command found its aggregate's head and journal in contradiction; the log names it.").WithLabelValues()

	const label = "aggregate_type"
	gauge := func(name, help string) *prometheus.GaugeVec {
		made := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{label})
		m.all = append(m.all, made)
		return made
	}
	hits := counter("state_cache_hits_total", "States of aggregates that were found in memory.", label)
	misses := counter("state_cache_misses_total", "States of aggregates that were read from the event store.", label)
	states := gauge("state_cache_entries", "States of aggregates in memory.")
	bytes := gauge("state_cache_bytes", "Estimated size of the states in memory.")
	written := counter("snapshots_written_total", "Snapshots that were written.", label)
	writtenBytes := counter("snapshots_written_bytes_total", "Size of the snapshots that were written, before compression.", label)
	failed := counter("snapshots_failed_total", "Snapshots that could not be written; the next event of the aggregate tries again.", label)
	unreadable := counter("snapshots_unreadable_total", "Snapshots that were skipped because they can't be read; the log names them.", label)
	m.types = func(name string) typeMetrics {
		return typeMetrics{
			hits.WithLabelValues(name), misses.WithLabelValues(name), written.WithLabelValues(name), writtenBytes.WithLabelValues(name),
			failed.WithLabelValues(name), unreadable.WithLabelValues(name), states.WithLabelValues(name), bytes.WithLabelValues(name),
		}
	}
	return m
}

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(found chan<- *prometheus.Desc) {
	for _, each := range m.all {
		each.Describe(found)
	}
}

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(found chan<- prometheus.Metric) {
	for _, each := range m.all {
		each.Collect(found)
	}
}
