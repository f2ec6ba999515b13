package updater

import (
	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/infrastructure/config"
)

// Usage tells the variables of [ReadSettings] for --help.
const Usage = `  UPDATER_ADDR               address to listen on, for health and metrics (:28081)
` + eventstore.PollingUsage

// Settings are what the environment says.
type Settings struct {
	Address string
	Source  eventstore.SourceSettings
}

// ReadSettings reads the variables of Usage. What there is to say of DynamoDB Streams, a program that can follow them reads
// by itself.
func ReadSettings(reader *config.Reader) Settings {
	return Settings{
		Address: reader.Address("UPDATER_ADDR", ":28081"),
		Source:  eventstore.SourceSettings{Polling: eventstore.ReadPolling(reader)},
	}
}
