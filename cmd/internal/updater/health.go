package updater

import (
	"net/http"

	"example.com/threads/cmd/internal/readmodel"
	"example.com/threads/es/run"
	"example.com/threads/infrastructure/httpserver"
)

// Report is the answer of /health/ready.
type Report struct {
	readmodel.Health
	// Active is false while the program stands by: another one writes the read model.
	Active           bool `json:"active"`
	ParkedAggregates *int `json:"parked_aggregates"` // null while the database does not answer
	// DriftedAggregates counts the aggregates whose rows differ from the journal, of those verified so far.
	DriftedAggregates int             `json:"drifted_aggregates"`
	RepairDue         bool            `json:"repair_due"`
	Rebuild           *run.Rebuilding `json:"rebuild,omitempty"` // unfinished
}

func ready(updater *run.Updater, server *httpserver.Server) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		now := updater.Look(r.Context())
		found := Report{
			Health: readmodel.NewHealth(server.Notes), Active: now.Active, ParkedAggregates: now.ParkedAggregates,
			DriftedAggregates: now.DriftedAggregates, RepairDue: now.RepairDue, Rebuild: now.Rebuild,
		}
		found.Behind(now.Lag.Behind, now.Lag.Records, now.Lag.AtLeast)
		for _, check := range now.Checks {
			found.Check(check.Name, check.Reason)
		}
		found.Check("read_model", found.CatchingUp(now.CaughtUp))
		found.Warnings = append(found.Warnings, now.Warnings...)
		found.Answer(w, found)
	}
}
