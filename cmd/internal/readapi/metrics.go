package readapi

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/usecase"
)

// measureWaits returns an observer of how long queries wait for the versions of their consistency tokens.
func measureWaits(registry prometheus.Registerer) func(time.Duration, error) {
	waits := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "consistency_wait_duration_seconds",
		Help:    "Time that queries waited for their consistency tokens, by outcome: reached, or the kind of the error (behind: the version was not reached in time).",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 5, 10},
	}, []string{"outcome"})
	registry.MustRegister(waits)
	return func(took time.Duration, err error) {
		outcome := "reached"
		if err != nil {
			outcome = usecase.KindOf(err).String()
		}
		waits.WithLabelValues(outcome).Observe(took.Seconds())
	}
}
