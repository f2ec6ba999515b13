package dynamodbstreams

// Client is what [Share] takes.
type Client = client

// Totals are the running totals.
type Totals struct{ Records, Skipped, Ignored, Expired, Lost int64 }

// Totals returns the running totals.
func (s *Source) Totals() Totals {
	c := &s.counters
	return Totals{c.records.Load(), c.skipped.Load(), c.ignored.Load(), c.expired.Load(), c.lost.Load()}
}
