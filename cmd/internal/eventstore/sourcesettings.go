package eventstore

import (
	"time"

	"example.com/threads/infrastructure/config"
)

// SourceSettings configure a source.
type SourceSettings struct {
	PollMin time.Duration // between two polls that return events
	PollMax time.Duration // between two polls that return none

	// Of DynamoDB's stream.
	PageLimit     int32 // records per poll
	DiscoverEvery time.Duration
	Concurrency   int // shards at the same time
}

// ReadSource reads the poll interval of any source.
func ReadSource(r *config.Reader) SourceSettings {
	const shortest, longest = "STREAM_POLL_MIN", "STREAM_POLL_MAX"
	s := SourceSettings{
		PollMin: r.Duration(shortest, 5*time.Millisecond, time.Millisecond, time.Minute,
			"wait between two polls of a shard or queue while events arrive"),
		PollMax: r.Duration(longest, 100*time.Millisecond, time.Millisecond, time.Minute,
			"longest wait without events; AWS charges for each poll of each open shard"),
	}
	if s.PollMin > s.PollMax {
		r.Wrong(shortest + " is longer than " + longest + "; the longest wait can't be shorter than the shortest")
	}
	return s
}

// ReadStreams reads the other settings for DynamoDB Streams. It also declares and checks the variables that the AWS SDK
// reads by itself.
func (s *SourceSettings) ReadStreams(r *config.Reader) {
	r.URL("AWS_ENDPOINT_URL_DYNAMODB_STREAMS",
		"endpoint of the streams if they are not on AWS; with DynamoDB Local the same as for the tables")
	s.PageLimit = int32(r.Int("STREAM_PAGE_LIMIT", 1000, 1, 1000, "with dynamodb: records per poll"))
	s.DiscoverEvery = r.Duration("STREAM_DISCOVERY_INTERVAL", 10*time.Second, time.Second, 5*time.Minute,
		"with dynamodb: time between two listings of the shards")
	s.Concurrency = r.Int("STREAM_CONCURRENCY", 16, 1, 1024,
		"with dynamodb: shards projected at the same time, each with a connection to the database")
}
