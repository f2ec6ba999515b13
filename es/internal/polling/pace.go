package polling

import "time"

// follow is how long a source polls every Min after its last record, before the waits grow.
const follow = 500 * time.Millisecond

// Pace computes the wait between two polls: Min while records arrive and for a short time afterwards, then doubled
// after each empty page, up to Max. It must be used by one goroutine.
type Pace struct {
	Min, Max time.Duration

	wait  time.Duration
	found time.Time // when records last arrived
}

// Next returns the wait after a page with this many records out of limit. After a full page it is 0, because more
// records are waiting.
func (p *Pace) Next(records, limit int, now time.Time) time.Duration {
	switch {
	case records > 0:
		p.found, p.wait = now, p.Min
	case now.Sub(p.found) < follow:
		p.wait = p.Min
	default:
		p.wait = min(max(2*p.wait, p.Min), p.Max)
	}
	if records >= limit {
		return 0
	}
	return p.wait
}
