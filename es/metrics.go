package es

import (
	"context"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Metrics are the metrics of services and repositories: a [prometheus.Collector]. Those of a program share one.
type Metrics struct {
	*prometheus.Registry
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
	registry := prometheus.NewRegistry()
	in := promauto.With(registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return in.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	sizes := func(name, help string) prometheus.Histogram {
		return in.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: []float64{1, 2, 4, 8, 16, 32, 64, MaxAppend}})
	}
	const label = "aggregate_type"
	gauge := func(name, help string) *prometheus.GaugeVec {
		return in.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{label})
	}
	hits := counter("state_cache_hits_total", "States of aggregates that were found in memory.", label)
	misses := counter("state_cache_misses_total", "States of aggregates that were read from the event store.", label)
	states := gauge("state_cache_entries", "States of aggregates in memory.")
	bytes := gauge("state_cache_bytes", "Estimated size of the states in memory.")
	written := counter("snapshots_written_total", "Snapshots that were written.", label)
	writtenBytes := counter("snapshots_written_bytes_total", "Size of the snapshots that were written, before compression.", label)
	failed := counter("snapshots_failed_total", "Snapshots that could not be written; the next event of the aggregate tries again.", label)
	unreadable := counter("snapshots_unreadable_total", "Snapshots that were skipped because they can't be read; the log names them.", label)
	return &Metrics{
		Registry: registry,
		commands: counter("commands_total", "Commands by name and outcome: accepted, replayed (a repeat with the same key), or the kind of the error.",
			"command", "outcome"),
		perWrite:  sizes("commands_per_write", "Commands that were decided together and share a write to the event store."),
		events:    sizes("events_per_write", "Events of one write to the event store."),
		conflicts: counter("commands_conflicts_total", "Writes that failed because another process was faster; they are decided again.").WithLabelValues(),
		givenUp:   counter("commands_given_up_total", "Commands that were given up because others kept changing the aggregate.").WithLabelValues(),
		inconsistent: counter("commands_inconsistent_total",
			"Times that a command found its aggregate's head and journal in contradiction; the log names it.").WithLabelValues(),
		types: func(name string) typeMetrics {
			return typeMetrics{
				hits.WithLabelValues(name), misses.WithLabelValues(name), written.WithLabelValues(name), writtenBytes.WithLabelValues(name),
				failed.WithLabelValues(name), unreadable.WithLabelValues(name), states.WithLabelValues(name), bytes.WithLabelValues(name),
			}
		},
	}
}

// observe reports a command's end. A rejection is an answer, not a failure of the span.
func (s *Service[S, C, E]) observe(span trace.Span, name string, result Result, err error) {
	outcome := "accepted"
	switch {
	case err != nil:
		outcome = KindOf(err).String()
	case result.Replayed:
		outcome = "replayed"
	}
	s.settings.Metrics.commands.WithLabelValues(name, outcome).Inc()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.String("command.outcome", outcome))
	switch kind := KindOf(err); {
	case err == nil:
		span.SetAttributes(result.Key.VersionAttribute(result.Version))
	case kind == Internal || kind == Unavailable || kind == Inconsistent:
		span.SetStatus(codes.Error, err.Error())
	}
}

// startAppend starts the span of a write, below the first traced command in it. The spans of the others link to it.
func startAppend[C, E any](ctx context.Context, decided []*call[C, E], events int) (context.Context, trace.Span) {
	var commands []trace.Span
	for _, c := range decided {
		if span := trace.SpanFromContext(c.ctx); c.err == nil && span.IsRecording() {
			commands = append(commands, span)
		}
	}
	if len(commands) == 0 {
		return ctx, ignored
	}
	ctx, span := StartSpan(trace.ContextWithSpan(ctx, commands[0]), "append")
	span.SetAttributes(attribute.Int("append.commands", len(decided)), attribute.Int("append.events", events))
	for _, command := range commands[1:] {
		command.AddLink(trace.Link{SpanContext: span.SpanContext()})
	}
	return ctx, span
}

// StartSpan starts a span below the one in ctx. Where that is not recorded, the span does nothing, and costs nothing.
func StartSpan(ctx context.Context, name string) (context.Context, trace.Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, ignored
	}
	return parent.TracerProvider().Tracer("example.com/threads/es").Start(ctx, name)
}

// ignored is a span that does nothing.
var ignored = trace.SpanFromContext(context.Background())

const traceparentHeader = "traceparent" // of W3C Trace Context

// traceparentOf returns the trace and span of ctx in the form of W3C Trace Context; empty without a trace.
func traceparentOf(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier[traceparentHeader]
}

// Span returns the span of the command that the event results from; not a valid one without a Traceparent.
func (e Envelope) Span() trace.SpanContext {
	if e.Traceparent == "" {
		return trace.SpanContext{}
	}
	carrier := propagation.MapCarrier{traceparentHeader: e.Traceparent}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
}

// VersionAttribute is the attribute of spans that bring an aggregate to a version, or wait for it.
func (id AggregateID) VersionAttribute(version uint64) attribute.KeyValue {
	return attribute.String("aggregate.version", id.String()+":"+strconv.FormatUint(version, 10))
}
