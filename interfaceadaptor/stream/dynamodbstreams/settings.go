package dynamodbstreams

import (
	"cmp"
	"time"
)

// Settings is how a source reads. The zero value of a field stands for the default behind it.
type Settings struct {
	// PollMin is the wait between two polls of a shard while records come (5 ms), and PollMax the longest wait when none
	// come (100 ms). Each poll of each open shard is a call that AWS charges for.
	PollMin, PollMax time.Duration
	// PageLimit is how many records one poll asks for (1,000, which is also the most that the service gives).
	PageLimit int32
	// DiscoverEvery is the time between two looks for new shards (10 s). The end of a shard makes the source look at once.
	DiscoverEvery time.Duration
	// Concurrency is how many shards are polled and projected at the same time (64). It bounds memory, at up to 1 MB
	// each, and database connections; all shards get their turn whatever it is.
	Concurrency int
	// Grace is how long a batch that is being projected may still take after Run's context has ended (8 s).
	Grace time.Duration
	// StallAfter is the time without progress after which Health says that the source has stalled (10 s).
	StallAfter time.Duration
}

func (s Settings) withDefaults() Settings {
	s.PollMin = cmp.Or(s.PollMin, 5*time.Millisecond)
	s.PollMax = max(s.PollMin, cmp.Or(s.PollMax, 100*time.Millisecond))
	s.PageLimit = cmp.Or(s.PageLimit, maxPage)
	s.DiscoverEvery = cmp.Or(s.DiscoverEvery, 10*time.Second)
	s.Concurrency = cmp.Or(s.Concurrency, 64)
	s.Grace = cmp.Or(s.Grace, 8*time.Second)
	s.StallAfter = cmp.Or(s.StallAfter, 10*time.Second)
	return s
}

const (
	// maxPage is the most records that one GetRecords answers with.
	maxPage = 1000

	// horizon is how long a position from which nothing has been read yet is trusted: half of what the stream remembers,
	// because a shard's first records can already be that old when it begins.
	horizon = 12 * time.Hour

	// emptyPages is after how many pages without records in a row there is taken to be nothing new: the service may answer
	// with an empty page although records follow.
	emptyPages = 3
)
