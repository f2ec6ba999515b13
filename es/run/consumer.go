package run

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

// Consumer works beside the read model while this process has the turn.
type Consumer interface {
	// Run works until ctx ends, and finishes what it has begun. It logs failures.
	Run(ctx context.Context)
	// Check returns what operators should know. An error is the reason to be unready.
	Check(ctx context.Context) (Status, error)
}

// Status is what operators see of a [Consumer].
type Status struct {
	Warnings []string
	Gauges   []Gauge // also with an error, as last known
}

// Gauge is a metric of one moment.
type Gauge struct {
	Name, Help string
	Value      float64
	Labels     prometheus.Labels
}
