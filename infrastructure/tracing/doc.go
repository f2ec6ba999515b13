// Package tracing sends the programs' traces to a collector, by OTLP over HTTP, where OTEL_EXPORTER_OTLP_ENDPOINT names
// one. Otherwise nothing is started and nothing is traced.
//
// cmd/* starts it and passes its provider to what begins traces: the HTTP server and the projection. Everything
// below them finds the current span in its context. There is no global provider.
package tracing
