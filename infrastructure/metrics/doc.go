// Package metrics holds the programs' metrics, which Prometheus collects at /metrics.
//
// cmd/* creates one registry, passes it to everything that counts, and serves it. There is no global registry.
package metrics
