package writeapi

import (
	"time"

	"example.com/threads/es/sequence"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/metrics"
)

// Settings are read from the environment.
type Settings struct {
	CommandSettings
	Address      string
	Measurements metrics.Settings
}

// CommandSettings are shared by all who handle commands.
type CommandSettings struct {
	SnapshotEvery int
	CacheBytes    uint64 // 0: a share of the memory
	StoreTimeout  time.Duration
	Codes         sequence.Settings
}

func ReadSettings(r *config.Reader) Settings {
	address := r.Address("WRITE_API_ADDR", ":28080", "address to listen on")
	return Settings{Address: address, CommandSettings: ReadCommands(r)}
}

// ReadCommands reads how commands are handled.
func ReadCommands(r *config.Reader) CommandSettings {
	return CommandSettings{
		SnapshotEvery: ReadSnapshotEvery(r),
		Codes:         readCodes(r),
		CacheBytes: uint64(r.Int("STATE_CACHE_BYTES", 0, 0, 1<<40,
			"memory for cached states of threads, in bytes; 0: two thirds of the memory that Go may use, and at most 1 GiB; for tasks a fortieth")),
		StoreTimeout: r.Duration("STORE_TIMEOUT", 5*time.Second, 100*time.Millisecond, 12*time.Second,
			"how long the store may take for a command, retries included; a request is answered within twice that"),
	}
}

// readCodes reads how the codes of threads are numbered.
func readCodes(r *config.Reader) sequence.Settings {
	return sequence.Settings{
		Reset: sequence.Reset(r.OneOf("THREAD_CODE_RESET",
			"when the codes of threads begin with 1 again, in UTC; they then name the period, as in THREAD-2026-000001", sequence.Resets()...)),
		Block: uint64(r.Int("THREAD_CODE_BLOCK", 1, 1, 10_000,
			"codes that a process draws at once for a tenant, for tenants that create many threads; those it has not used when it ends are gaps")),
	}
}

// ReadSnapshotEvery reads the number of events after which a snapshot is due.
func ReadSnapshotEvery(r *config.Reader) int {
	return r.Int("SNAPSHOT_EVERY", 100, 1, 1_000_000, "least number of events between two snapshots of a thread; a large thread gets fewer")
}
