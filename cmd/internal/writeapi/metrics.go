package writeapi

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/interfaceadaptor/repository"
	"example.com/threads/usecase/command"
)

// countersOf registers the counters of the command services.
func countersOf(registry prometheus.Registerer) *command.Counters {
	counters := new(command.Counters)
	for _, c := range []counter{
		{"commands_conflicts_total", "Writes that failed because another process was faster; they are decided again.", &counters.Conflicts},
		{"commands_given_up_total", "Commands that were given up because others kept changing the aggregate.", &counters.GivenUp},
		{"commands_inconsistent_total", "Times that a command found its aggregate's head and journal in contradiction; the log names it.", &counters.Inconsistent},
	} {
		c.register(registry)
	}
	return counters
}

// counter is a running total of a package that does not know Prometheus.
type counter struct {
	name, help string
	value      *atomic.Int64
}

func (c counter) register(registry prometheus.Registerer) {
	registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: c.name, Help: c.help},
		func() float64 { return float64(c.value.Load()) }))
}

// observer counts commands and writes of all aggregate types.
type observer struct {
	commands         *prometheus.CounterVec
	perWrite, events prometheus.Histogram
}

func newObserver(registry prometheus.Registerer) *observer {
	sizes := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: []float64{1, 2, 4, 8, 16, 32, 64, command.MaxWrite}})
	}
	o := &observer{
		commands: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "commands_total", Help: "Commands by name and outcome: accepted, replayed (a repeat with the same key), or the kind of the error.",
		}, []string{"command", "outcome"}),
		perWrite: sizes("commands_per_write", "Commands that were decided together and share a write to the event store."),
		events:   sizes("events_per_write", "Events of one write to the event store."),
	}
	registry.MustRegister(o.commands, o.perWrite, o.events)
	return o
}

// Handled implements [command.Observer].
func (o *observer) Handled(name, outcome string) { o.commands.WithLabelValues(name, outcome).Inc() }

// Written implements [command.Observer].
func (o *observer) Written(commands, events int) {
	o.perWrite.Observe(float64(commands))
	o.events.Observe(float64(events))
}

// caching is a repository that reports on its cache and snapshots.
type caching interface {
	Counters() *repository.Counters
	Cached() (states int, bytes uint64)
}

// registerCache registers the metrics of the cache and the snapshots of an aggregate type.
func registerCache(registry prometheus.Registerer, name string, from caching) {
	registry = prometheus.WrapRegistererWith(prometheus.Labels{"aggregate_type": name}, registry)
	counters := from.Counters()
	for _, c := range []counter{
		{"state_cache_hits_total", "States of aggregates that were found in memory.", &counters.Hits},
		{"state_cache_misses_total", "States of aggregates that were read from the event store.", &counters.Misses},
		{"snapshots_written_total", "Snapshots that were written.", &counters.SnapshotsWritten},
		{"snapshots_written_bytes_total", "Size of the snapshots that were written, before compression.", &counters.SnapshotBytes},
		{"snapshots_failed_total", "Snapshots that could not be written; the next event of the aggregate tries again.", &counters.SnapshotsFailed},
		{"snapshots_unreadable_total", "Snapshots that were skipped because they can't be read; the log names them.", &counters.SnapshotsUnreadable},
	} {
		c.register(registry)
	}
	for _, gauge := range []struct {
		name, help string
		value      func() float64
	}{
		{"state_cache_entries", "States of aggregates in memory.", func() float64 { states, _ := from.Cached(); return float64(states) }},
		{"state_cache_bytes", "Estimated size of the states in memory.", func() float64 { _, bytes := from.Cached(); return float64(bytes) }},
	} {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: gauge.name, Help: gauge.help}, gauge.value))
	}
}
