package updater

import (
	"strings"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/measurements"
	"example.com/threads/cmd/internal/writeapi"
	"example.com/threads/infrastructure/config"
)

// Settings are what the environment says.
type Settings struct {
	Address      string
	Source       eventstore.SourceSettings
	Ignore       []string // aggregate types
	Measurements measurements.Settings
	Publishing   Publishing
	Commands     writeapi.CommandSettings // of the commands of tasks
	// VerifyRate is how many aggregates a second have their rows held against the journal, all the time; 0: none.
	VerifyRate int
	// RebuildAuto is whether rows that have to be made anew are, by themselves; see [ReadRebuild].
	RebuildAuto bool
}

// ReadSettings reads them. What there is to say of DynamoDB Streams, a program that can follow them reads by itself.
func ReadSettings(r *config.Reader) Settings {
	ignore := r.String("IGNORE_AGGREGATE_TYPES", "", "aggregate types, separated by commas, whose events this program does not know and leaves out")
	return Settings{
		Address:    r.Address("UPDATER_ADDR", ":28081", "address to listen on, for health and metrics"),
		Ignore:     strings.FieldsFunc(ignore, func(r rune) bool { return r == ',' || r == ' ' }),
		Source:     eventstore.SourceSettings{Polling: eventstore.ReadPolling(r)},
		Publishing: ReadPublishing(r),
		VerifyRate: r.Int("VERIFY_RATE", 1, 0, 1000,
			"aggregates a second whose rows are held against the journal all the time, so that drift shows; with 0 none are"),
	}
}
