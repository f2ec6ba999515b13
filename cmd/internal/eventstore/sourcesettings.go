package eventstore

import (
	"time"

	"example.com/threads/infrastructure/config"
)

// SourceSettings are what the environment says of how a store is followed.
type SourceSettings struct {
	Polling Polling
	Streams Streams
}

// Polling is how often a source looks for events, whatever the store.
type Polling struct {
	Min time.Duration // between two polls while events come
	Max time.Duration // between two polls while none come
}

// PollingUsage tells the variables of [ReadPolling] for --help.
const PollingUsage = `  STREAM_POLL_MIN            wait between two polls of a shard or queue while events come (5ms)
  STREAM_POLL_MAX            longest wait while none come (100ms); AWS charges for each poll of each open shard
`

// ReadPolling reads the variables of PollingUsage.
func ReadPolling(reader *config.Reader) Polling {
	p := Polling{
		Min: reader.Duration("STREAM_POLL_MIN", 5*time.Millisecond, time.Millisecond, time.Minute),
		Max: reader.Duration("STREAM_POLL_MAX", 100*time.Millisecond, time.Millisecond, time.Minute),
	}
	if p.Min > p.Max {
		reader.Wrong("STREAM_POLL_MIN is longer than STREAM_POLL_MAX; the longest wait can't be shorter than the shortest")
	}
	return p
}

// Streams is what else there is to say where the store is DynamoDB.
type Streams struct {
	PageLimit     int           // records that one poll asks for
	DiscoverEvery time.Duration // between two looks for new shards
	Concurrency   int           // shards that are projected at the same time
}

// StreamsUsage tells the variables of [ReadStreams] for --help.
const StreamsUsage = `  STREAM_PAGE_LIMIT          with dynamodb: records that one poll asks for, up to 1000 (1000)
  STREAM_DISCOVERY_INTERVAL  with dynamodb: time between two looks for new shards (10s)
  STREAM_CONCURRENCY         with dynamodb: shards projected at the same time, each with a connection to the database (16)
  AWS_ENDPOINT_URL_DYNAMODB_STREAMS  with dynamodb: where its streams are, when not on AWS; with DynamoDB Local the same as AWS_ENDPOINT_URL_DYNAMODB (AWS)
`

// ReadStreams reads the variables of StreamsUsage.
func ReadStreams(reader *config.Reader) Streams {
	reader.URL("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", "") // the SDK reads it itself; here it is checked
	return Streams{
		PageLimit:     reader.Int("STREAM_PAGE_LIMIT", 1000, 1, 1000),
		DiscoverEvery: reader.Duration("STREAM_DISCOVERY_INTERVAL", 10*time.Second, time.Second, 5*time.Minute),
		Concurrency:   reader.Int("STREAM_CONCURRENCY", 16, 1, 1024),
	}
}
