// Package totals registers running totals as metrics.
package totals

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Register registers a running total.
func Register(registry prometheus.Registerer, name, help string, total *atomic.Int64) {
	promauto.With(registry).NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(total.Load()) })
}
