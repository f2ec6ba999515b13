package sqlqueue

import (
	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/es/internal/totals"
)

// Measure registers the running totals as metrics.
func (s *Source) Measure(registry prometheus.Registerer) {
	c := &s.counters
	totals.Register(registry, "queue_polls_total", "Successful polls of the queue.", &c.Polls)
	totals.Register(registry, "queue_polls_empty_total", "Polls without events.", &c.Empty)
	totals.Register(registry, "queue_failures_total", "Failed polls and batches; each is retried.", &c.Failures)
	totals.Register(registry, "queue_records_total", "Events handed to the projection.", &c.Records)
	totals.Register(registry, "queue_entries_skipped_total", "Entries without a valid aggregate.", &c.Skipped)
}
