package dynamodbstreams

import (
	"cmp"
	"time"
)

// Settings of a source. Zero fields take their defaults, which are in parentheses.
type Settings struct {
	// PollMin is the wait between two polls of a shard while records arrive (5 ms); PollMax is the longest wait without
	// records (100 ms). AWS charges for each poll of each open shard.
	PollMin, PollMax time.Duration
	// PageLimit is the number of records per poll (1,000, the maximum that the service allows).
	PageLimit int32
	// DiscoverEvery is the time between two listings of the shards (10 s). The end of a shard triggers a listing at
	// once.
	DiscoverEvery time.Duration
	// Concurrency is the number of shards that are polled and projected at the same time (16). It limits memory, up to
	// 1 MB each, and database connections. All shards take turns.
	Concurrency int
	// Grace is how long a batch in progress may continue after Run's context has ended (8 s).
	Grace time.Duration
	// StallAfter is the time without progress after which Health returns an error (10 s).
	StallAfter time.Duration
}

func (s Settings) withDefaults() Settings {
	s.PollMin = cmp.Or(s.PollMin, 5*time.Millisecond)
	s.PollMax = max(s.PollMin, cmp.Or(s.PollMax, 100*time.Millisecond))
	s.PageLimit = cmp.Or(s.PageLimit, maxPage)
	s.DiscoverEvery = cmp.Or(s.DiscoverEvery, 10*time.Second)
	s.Concurrency = cmp.Or(s.Concurrency, 16)
	s.Grace = cmp.Or(s.Grace, 8*time.Second)
	s.StallAfter = cmp.Or(s.StallAfter, 10*time.Second)
	return s
}

const (
	// maxPage is the maximum number of records in one GetRecords answer.
	maxPage = 1000

	// horizon is how long a position is trusted before anything was read from it: half of the stream's retention,
	// because a shard's first records can already be that old when it begins.
	horizon = 12 * time.Hour

	// emptyPages is the number of consecutive empty pages after which a shard counts as caught up: the service may
	// return an empty page although records follow.
	emptyPages = 3
)
