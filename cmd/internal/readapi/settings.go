package readapi

import (
	"time"

	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/metrics"
	"example.com/threads/interfaceadaptor/graphql"
)

// Settings are read from the environment.
type Settings struct {
	Address      string
	WaitTimeout  time.Duration
	Limits       graphql.Settings // its limits
	Measurements metrics.Settings
}

func ReadSettings(r *config.Reader) Settings {
	return Settings{
		Address: r.Address("READ_API_ADDR", ":28082", "address to listen on"),
		WaitTimeout: r.Duration("READ_WAIT_TIMEOUT", 2*time.Second, time.Millisecond, 8*time.Second,
			"how long a query waits for the versions of its Consistency-Token"),
		Limits: graphql.Settings{
			ComplexityLimit: r.Int("QUERY_COMPLEXITY_LIMIT", 20_000, 1, 10_000_000,
				"the most fields times page sizes of an operation"),
			ConnectionLimit: r.Int("LIVE_CONNECTION_LIMIT", 10_000, 1, 1_000_000,
				"WebSockets and event streams open at once; one more is answered with 503"),
			OperationLimit: r.Int("WEBSOCKET_OPERATION_LIMIT", 256, 1, 10_000,
				"operations at once on one WebSocket; one more is refused"),
			InFlightLimit: r.Int("COMPLEXITY_IN_FLIGHT", 20_000, 1, 100_000_000,
				"the complexity of all operations in progress; further ones wait"),
		},
	}
}
