// Package metrics holds what the programs measure about themselves, for Prometheus to collect at /metrics.
//
// cmd/* makes one registry, hands it to those that have something to count, and serves it; there is no global registry.
package metrics
