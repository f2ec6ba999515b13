package queries

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/es/migration"
	"example.com/threads/es/rowstore"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
)

// silentAfter is the age of a report that is too old to be trusted: the updater reports every 10 s or more often.
const silentAfter = 30 * time.Second

// health is that of the read-api.
type health struct{ db *sqlx.DB }

// report makes the program ready when the read model can be reached and has caught up once since its tables were
// created. The lag is the one that the updater reported last.
func (h health) report(ctx context.Context, health *httpserver.Health) {
	var report rowstore.Report
	err := migration.Ready(ctx, h.db, system.Schemas()...)
	if err == nil {
		report, err = rowstore.ReadReport(ctx, h.db, chatrows.Projection)
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", httpserver.Public("the database of the read model can't be used; the log says why"), err)
	}
	health.Check("database", err)
	silent := time.Since(report.At)
	lag := report.Lag
	lag.AtLeast = lag.AtLeast || silent > silentAfter
	system.ReportLag(health, lag)
	if err != nil {
		return
	}
	system.CheckCaughtUp(health, report.CaughtUp, lag)
	switch {
	case report.At.Unix() <= 0:
		health.Warn("no read-model-updater has reported yet how far the read model is")
	case silent > silentAfter:
		health.Warn(fmt.Sprintf("no read-model-updater has reported for %.0f s how far the read model is", silent.Seconds()))
	}
}
