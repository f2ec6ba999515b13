package relational

import (
	"cmp"
	"time"
)

// Settings is how a source reads. The zero value of a field stands for the default behind it.
type Settings struct {
	// PollMin is the wait between two polls while events come (5 ms), and PollMax the longest wait when none come
	// (100 ms). [Source.Wake] ends a wait.
	PollMin, PollMax time.Duration
	// Gather is the time from a poll that finds events to the next, however soon Wake is called (2 ms): events that come
	// one upon the other share a transaction, and one that comes alone waits for nobody. A full page is not waited after.
	Gather time.Duration
	// PageSize is how many events are read and projected at once (500).
	PageSize int
	// Grace is how long a batch that is being projected may still take after Run's context has ended (8 s).
	Grace time.Duration
	// StallAfter is the time without progress after which Health says that the source has stalled (10 s).
	StallAfter time.Duration
}

func (s Settings) withDefaults() Settings {
	s.PollMin = cmp.Or(s.PollMin, 5*time.Millisecond)
	s.PollMax = max(s.PollMin, cmp.Or(s.PollMax, 100*time.Millisecond))
	s.Gather = cmp.Or(s.Gather, 2*time.Millisecond)
	s.PageSize = cmp.Or(s.PageSize, 500)
	s.Grace = cmp.Or(s.Grace, 8*time.Second)
	s.StallAfter = cmp.Or(s.StallAfter, 10*time.Second)
	return s
}
