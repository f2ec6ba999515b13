package stream

import "time"

// follow is how long a source polls every Min after its last record, before the waits grow.
const follow = 500 * time.Millisecond

// Pace tells how long to wait between two polls: Min while records come and a little longer, then twice as long after
// each empty page, up to Max. It belongs to one goroutine.
type Pace struct {
	Min, Max time.Duration

	wait  time.Duration
	found time.Time // when records last came
}

// Next is the wait after a page with so many records, of which limit were asked for. After a full one there is none:
// more is waiting.
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
