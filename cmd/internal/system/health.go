package system

import (
	"fmt"

	"example.com/threads/es/projection"
	"example.com/threads/infrastructure/httpserver"
)

// ReportLag adds how far the read model is behind the journal.
func ReportLag(health *httpserver.Health, lag projection.Lag) {
	health.Set("behind_seconds", lag.Behind.Seconds())
	health.Set("behind_records", lag.Records)
	health.Set("behind_at_least", lag.AtLeast) // the values above are lower bounds
}

// CheckCaughtUp makes a program unready until the read model has caught up with the journal once.
func CheckCaughtUp(health *httpserver.Health, caughtUp bool, lag projection.Lag) {
	if caughtUp {
		health.Check("read_model", nil)
		return
	}
	more := ""
	if lag.AtLeast {
		more = " or more"
	}
	health.Check("read_model", httpserver.Public(fmt.Sprintf("the read model has not caught up with the journal since its tables were made: "+
		"it is %.1f s and %d records%s behind; wait while the read-model-updater fills it", lag.Behind.Seconds(), lag.Records, more)))
}
