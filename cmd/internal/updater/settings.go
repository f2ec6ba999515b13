package updater

import (
	"strings"

	"example.com/threads/cmd/internal/eventstore"
	"example.com/threads/cmd/internal/writeapi"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/metrics"
)

// Settings are read from the environment.
type Settings struct {
	Address      string
	Source       eventstore.SourceSettings
	Ignore       []string // aggregate types
	Measurements metrics.Settings
	Commands     writeapi.CommandSettings // extra:tasks
	// VerifyRate is how many aggregates per second are continuously compared with the journal; 0: none.
	VerifyRate int
	// RebuildAuto: rebuild rows automatically when needed; see [ReadRebuild].
	RebuildAuto bool
}

// ReadSettings reads all but the settings for DynamoDB Streams, because not every program can follow those.
func ReadSettings(r *config.Reader) Settings {
	ignore := r.String("IGNORE_AGGREGATE_TYPES", "", "aggregate types, separated by commas, whose events this program does not know and leaves out")
	return Settings{
		Address: r.Address("UPDATER_ADDR", ":28081", "address to listen on, for health, metrics and operators (/operate)"),
		Ignore:  strings.FieldsFunc(ignore, func(r rune) bool { return r == ',' || r == ' ' }),
		Source:  eventstore.ReadSource(r),
		VerifyRate: r.Int("VERIFY_RATE", 1, 0, 1000,
			"aggregates per second whose rows are compared with the journal, all the time, to find drift; each 500 events of a large one "+
				"count as one; with 0 none are"),
	}
}

// Values of REBUILD: whether the updater rebuilds the read model by itself.
const (
	RebuildManual = "manual"
	RebuildAuto   = "auto"
)

// ReadRebuild reads REBUILD, for programs whose default is the first of the choices.
func ReadRebuild(r *config.Reader, choices ...string) (auto bool) {
	return r.OneOf("REBUILD", "auto: rows of another version of the program, or ahead of a restored event store, are rebuilt "+
		"automatically; manual: /health/ready reports them, and threadctl rebuilds them", choices...) == RebuildAuto
}
