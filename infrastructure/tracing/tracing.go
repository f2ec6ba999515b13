package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

const (
	// flushTimeout limits how long the last spans are waited for at the end.
	flushTimeout = 2 * time.Second
	// A batch of spans is given up after retryTime. Meanwhile spans queue up, and those beyond the queue are dropped:
	// a collector that is down never slows a request.
	retryTime = 5 * time.Second
)

// Traces are a program's. Create them with [Start] and end them with [Traces.Stop].
type Traces struct{ provider *sdk.TracerProvider }

// Start begins to send traces, if a collector is set. It does not connect. program is the service's name, unless
// OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES names it.
func Start(ctx context.Context, settings Settings, program string, log *slog.Logger) (*Traces, error) {
	if settings.endpoint == "" {
		return &Traces{}, nil
	}
	otel.SetLogger(logr.Discard()) // the SDK would print what it can't use of its variables, secrets included
	exporter, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(strings.TrimSuffix(settings.endpoint, "/")+"/v1/traces"),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled: true, InitialInterval: retryTime / 10, MaxInterval: retryTime / 2, MaxElapsedTime: retryTime,
		}))
	if err != nil {
		return nil, fmt.Errorf("send traces to OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
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

// Provider returns what makes tracers; nil where nothing is traced.
func (t *Traces) Provider() trace.TracerProvider {
	if t.provider == nil {
		return nil
	}
	return t.provider
}

// Tracer returns a tracer; nil where nothing is traced.
func (t *Traces) Tracer(name string) trace.Tracer {
	if t.provider == nil {
		return nil
	}
	return t.provider.Tracer(name)
}

// Stop sends the spans that have ended, for flushTimeout at most. What cannot be sent is lost.
func (t *Traces) Stop() {
	if t.provider == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	_ = t.provider.Shutdown(ctx) // told has logged why
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
