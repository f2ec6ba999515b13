package readapi

import (
	"time"

	"example.com/threads/infrastructure/config"
)

// Usage tells the variables of [ReadSettings] for --help.
const Usage = `  READ_API_ADDR              address to listen on (:28082)
  READ_WAIT_TIMEOUT          how long a query waits for the versions of its Consistency-Token, up to 8s (2s)
  QUERY_COMPLEXITY_LIMIT     the most fields times page sizes of an operation (20000)
`

// Settings are what the environment says.
type Settings struct {
	Address         string
	WaitTimeout     time.Duration
	ComplexityLimit int
}

// ReadSettings reads the variables of Usage.
func ReadSettings(reader *config.Reader) Settings {
	return Settings{
		Address:         reader.Address("READ_API_ADDR", ":28082"),
		WaitTimeout:     reader.Duration("READ_WAIT_TIMEOUT", 2*time.Second, time.Millisecond, 8*time.Second),
		ComplexityLimit: reader.Int("QUERY_COMPLEXITY_LIMIT", 20_000, 1, 10_000_000),
	}
}
