package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

const (
	// flushTimeout limits how long Stop waits for the last spans.
	flushTimeout = 2 * time.Second
	// A batch of spans is dropped after retryTime. Meanwhile spans queue up, and those beyond the queue are dropped, so
	// a collector that is down never slows a request.
	retryTime = 5 * time.Second
)

// Traces sends a program's traces. Create it with [Start] and end it with [Traces.Stop].
type Traces struct{ provider *sdk.TracerProvider }

// Start starts sending traces if a collector is set. It does not connect. program is the service's name, unless
// OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES sets another one.
func Start(ctx context.Context, settings Settings, program string, log *slog.Logger) (*Traces, error) {
	if settings.endpoint == "" {
		return &Traces{}, nil
	}
	otel.SetLogger(logr.Discard()) // the SDK would log malformed variables, secrets included
	client, err := newCollector(settings.endpoint)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, err
	}
	about, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName(program)), resource.WithHost(), resource.WithTelemetrySDK(),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES must be key=value, separated by commas: %w", err)
	}
	log.InfoContext(ctx, "traces are sent", "endpoint", settings.endpoint, "sampler", settings.sampler.Description())
	return &Traces{sdk.NewTracerProvider(
		sdk.WithBatcher(&told{SpanExporter: exporter, log: log}), sdk.WithResource(about), sdk.WithSampler(settings.sampler),
	)}, nil
}

// Provider returns the provider of tracers; nil: no traces.
func (t *Traces) Provider() trace.TracerProvider {
	if t.provider == nil {
		return nil
	}
	return t.provider
}

// Tracer returns a tracer; nil: no traces.
func (t *Traces) Tracer(name string) trace.Tracer {
	if t.provider == nil {
		return nil
	}
	return t.provider.Tracer(name)
}

// Stop sends the ended spans, for flushTimeout at most. Unsent spans are lost.
func (t *Traces) Stop() {
	if t.provider == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // told has logged the error
}

// told is an exporter that logs the first of consecutive failures, and their end.
type told struct {
	sdk.SpanExporter
	log     *slog.Logger
	failing bool // exports never overlap
}

// ExportSpans implements [sdk.SpanExporter].
func (t *told) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := t.SpanExporter.ExportSpans(ctx, spans)
	switch {
	case err != nil && !t.failing:
		t.log.WarnContext(ctx, "traces can't be sent and are dropped until they can: check the collector and OTEL_EXPORTER_OTLP_ENDPOINT", "error", err)
	case err == nil && t.failing:
		t.log.InfoContext(ctx, "traces are sent again")
	}
	t.failing = err != nil
	return nil
}
