// Package updater puts the projection together: a source of changes, the projector, the rows of the read model, and what
// tells operators how it is.
package updater

import (
	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/infrastructure/config"
	"example.com/threads/interfaceadaptor/stream/dynamodbstreams"
)

// Usage tells the variables of [ReadSettings] for --help.
const Usage = `  UPDATER_ADDR               address to listen on, for health and metrics (:28081)
` + eventstore.SourceUsage

// Settings are what the environment says.
type Settings struct {
	Address string
	Source  dynamodbstreams.Settings
}

// ReadSettings reads the variables of Usage.
func ReadSettings(reader *config.Reader) Settings {
	return Settings{
		Address: reader.Address("UPDATER_ADDR", ":28081"),
		Source:  eventstore.ReadSourceSettings(reader),
	}
}
