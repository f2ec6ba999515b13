package updater

import (
	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/infrastructure/config"
)

// Settings are what the environment says.
type Settings struct {
	Address string
	Source  eventstore.SourceSettings
}

// ReadSettings reads them. What there is to say of DynamoDB Streams, a program that can follow them reads by itself.
func ReadSettings(r *config.Reader) Settings {
	return Settings{
		Address: r.Address("UPDATER_ADDR", ":28081", "address to listen on, for health and metrics"),
		Source:  eventstore.SourceSettings{Polling: eventstore.ReadPolling(r)},
	}
}
