package dynamodbstreams

import (
	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/es/internal/totals"
)

// Measure registers the running totals as metrics.
func (s *Source) Measure(registry prometheus.Registerer) {
	c := &s.counters
	totals.Register(registry, "stream_polls_total", "Successful polls of the stream.", &c.Polls)
	totals.Register(registry, "stream_polls_empty_total", "Polls without records.", &c.Empty)
	totals.Register(registry, "stream_failures_total", "Failed calls and batches; each is retried.", &c.Failures)
	totals.Register(registry, "stream_records_total", "Records handed to the projection.", &c.Records)
	totals.Register(registry, "stream_items_skipped_total", "New items of the journal table that are not journal entries.", &c.Skipped)
	totals.Register(registry, "stream_records_ignored_total", "Updates and deletions in the journal table.", &c.Ignored)
	totals.Register(registry, "stream_iterators_expired_total", "Iterators that expired and were replaced.", &c.Expired)
	totals.Register(registry, "stream_positions_lost_total", "Positions after which the stream had trimmed records.", &c.Lost)
}

// Wake does nothing: polls of the stream have their own pace.
func (s *Source) Wake() {}
