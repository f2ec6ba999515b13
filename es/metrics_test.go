package es_test

import (
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/es"
)

// measuredOf returns the sum of a metric over all series with these labels' values. Of a histogram it is that of the
// observations, or their number if the name ends with _count.
func measuredOf(t *testing.T, metrics *es.Metrics, name string, labels ...string) (sum float64) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(metrics)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, series := range family.GetMetric() {
			var values []string
			for _, label := range series.GetLabel() {
				values = append(values, label.GetValue())
			}
			missing := slices.ContainsFunc(labels, func(label string) bool { return !slices.Contains(values, label) })
			switch {
			case missing:
			case family.GetName()+"_count" == name:
				sum += float64(series.GetHistogram().GetSampleCount())
			case family.GetName() == name:
				sum += series.GetCounter().GetValue() + series.GetGauge().GetValue() + series.GetHistogram().GetSampleSum()
			}
		}
	}
	return sum
}
