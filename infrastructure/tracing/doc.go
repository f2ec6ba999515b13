// Package tracing sends the programs' traces to a collector, by OTLP over HTTP, if OTEL_EXPORTER_OTLP_ENDPOINT is set.
// Otherwise nothing is traced.
//
// cmd/* starts it and passes its provider to the HTTP server and the projection, which start traces. All code below
// them finds the current span in its context. There is no global provider.
package tracing
