package relational

import "time"

// Settings is how a source reads. The zero value of a field stands for the default behind it.
type Settings struct {
	// PollMin is the wait between two polls while events come (5 ms), and PollMax the longest wait when none come
	// (100 ms). [Source.Wake] ends a wait.
	PollMin, PollMax time.Duration
	// PageSize is how many events are read and projected at once (500).
	PageSize int
	// Grace is how long a batch that is being projected may still take after Run's context has ended (8 s).
	Grace time.Duration
	// StallAfter is the time without progress after which Health says that the source has stalled (10 s).
	StallAfter time.Duration
}

func (s Settings) withDefaults() Settings {
	orDefault(&s.PollMin, 5*time.Millisecond)
	orDefault(&s.PollMax, 100*time.Millisecond)
	orDefault(&s.PageSize, 500)
	orDefault(&s.Grace, 8*time.Second)
	orDefault(&s.StallAfter, 10*time.Second)
	s.PollMax = max(s.PollMin, s.PollMax)
	return s
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
