package readapi

import (
	"time"

	"example.com/threads/infrastructure/config"
)

// Settings are what the environment says.
type Settings struct {
	Address         string
	WaitTimeout     time.Duration
	ComplexityLimit int
}

// ReadSettings reads them.
func ReadSettings(r *config.Reader) Settings {
	return Settings{
		Address: r.Address("READ_API_ADDR", ":28082", "address to listen on"),
		WaitTimeout: r.Duration("READ_WAIT_TIMEOUT", 2*time.Second, time.Millisecond, 8*time.Second,
			"how long a query waits for the versions of its Consistency-Token"),
		ComplexityLimit: r.Int("QUERY_COMPLEXITY_LIMIT", 20_000, 1, 10_000_000,
			"the most fields times page sizes of an operation"),
	}
}
