package eventstore

import (
	"time"

	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/config/stores"
)

// Settings of the event store.
type Settings struct {
	Kind         string // see package stores
	SnapshotKeep int    // beside the latest

	Clock          func() time.Time // this computer's clock; nil: time.Now
	ClockTolerance time.Duration    // maximum difference from the clock of the store

	URL string // of a relational store

	// Of DynamoDB.
	JournalTable  string
	SnapshotTable string
	Shards        int
	SnapshotTTL   time.Duration
}

const defaultShards = 64 // as in es/dynamodb

// ReadPlace reads the kind and the place of the event store. Programs that only read need nothing else.
func ReadPlace(r *config.Reader) (s Settings) {
	s.Kind, s.URL = stores.ReadEventStore(r)
	tables := stores.ReadTables(r)
	s.JournalTable, s.SnapshotTable = tables.Journal, tables.Snapshot
	s.Shards = r.Int("SHARD_COUNT", defaultShards, 1, 1<<16,
		"with dynamodb: number of logical shards; must never change once there is data")
	return s
}

// ReadSettings reads the kind and the place of the event store, and what it keeps.
func ReadSettings(r *config.Reader) Settings {
	s := ReadPlace(r)
	s.SnapshotKeep = ReadSnapshotKeep(r)
	s.SnapshotTTL = r.Duration("SNAPSHOT_TTL", 0, 0, 10*365*24*time.Hour,
		"with dynamodb: how long older snapshots are kept, such as 72h; with 0s they are deleted at once")
	s.ClockTolerance = r.Duration("CLOCK_TOLERANCE", 5*time.Minute, 10*time.Second, 365*24*time.Hour,
		"with dynamodb or mysql: commands are refused while this computer's clock differs from the store's by more")
	return s
}

// ReadSnapshotKeep reads how many snapshots are kept. It applies to all event stores.
func ReadSnapshotKeep(r *config.Reader) int {
	return r.Int("SNAPSHOT_KEEP", 1, 0, 1000, "snapshots to keep beside the latest")
}
