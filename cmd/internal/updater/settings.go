package updater

import (
	"strings"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/measurements"
	"example.com/threads/cmd/internal/writeapi"
	"example.com/threads/infrastructure/config"
)

// Settings are read from the environment.
type Settings struct {
	Address      string
	Source       eventstore.SourceSettings
	Ignore       []string // aggregate types
	Measurements measurements.Settings
	Publishing   Publishing
	Commands     writeapi.CommandSettings // of the commands of tasks
	// VerifyRate is how many aggregates per second are continuously compared with the journal; 0: none.
	VerifyRate int
	// RebuildAuto: rebuild rows automatically when needed; see [ReadRebuild].
	RebuildAuto bool
}

// ReadSettings reads all but the settings for DynamoDB Streams, because not every program can follow those.
func ReadSettings(r *config.Reader) Settings {
	ignore := r.String("IGNORE_AGGREGATE_TYPES", "", "aggregate types, separated by commas, whose events this program does not know and leaves out")
	return Settings{
		Address:    r.Address("UPDATER_ADDR", ":28081", "address to listen on, for health, metrics and operators (/operate)"),
		Ignore:     strings.FieldsFunc(ignore, func(r rune) bool { return r == ',' || r == ' ' }),
		Source:     eventstore.ReadSource(r),
		Publishing: ReadPublishing(r),
		VerifyRate: r.Int("VERIFY_RATE", 1, 0, 1000,
			"aggregates per second whose rows are compared with the journal, all the time, to find drift; each 500 events of a large one "+
				"count as one; with 0 none are"),
	}
}
