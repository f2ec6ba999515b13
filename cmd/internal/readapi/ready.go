package readapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"example.com/threads/cmd/internal/readmodel"
	"example.com/threads/es/migration"
	"example.com/threads/es/rowstore"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
)

const (
	checkTimeout        = 2 * time.Second
	journalCheckTimeout = time.Second
	// silentAfter is the age of a report that is too old to be trusted: the updater reports every 10 s or more often.
	silentAfter = 30 * time.Second
)

// ready answers /health/ready: 200 when the read model can be reached and has caught up once since its tables were
// created. The lag is the one that the updater reported last. Causes of failures go to the log only.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
	defer cancel()
	health := readmodel.NewHealth(s.Notes)
	for _, check := range s.Checks {
		if err := check.Run(ctx); err != nil {
			s.log.WarnContext(ctx, "not ready", "check", check.Name, "error", err)
			health.Check(check.Name, cmp.Or(httpserver.PublicReason(err), "the log says why"))
			continue
		}
		health.Check(check.Name, "")
	}
	var report rowstore.Report
	err := migration.Ready(ctx, s.db, readmodel.Schemas()...)
	if err == nil {
		report, err = rowstore.ReadReport(ctx, s.db, chatrows.Projection)
	}
	silent := time.Since(report.At)
	health.Behind(report.Behind, report.BehindRecords, report.AtLeast || silent > silentAfter)
	if err != nil {
		s.log.WarnContext(ctx, "not ready", "check", "database", "error", err)
		health.Check("database", "the database of the read model can't be used; the log says why")
		health.Answer(w, health)
		return
	}
	health.Check("database", "")
	s.checkJournal(r.Context(), &health)
	health.Check("read_model", health.CatchingUp(report.CaughtUp))
	switch {
	case report.At.Unix() <= 0:
		health.Warnings = append(health.Warnings, "no read-model-updater has reported yet how far the read model is")
	case silent > silentAfter:
		health.Warnings = append(health.Warnings, fmt.Sprintf("no read-model-updater has reported for %.0f s how far the read model is", silent.Seconds()))
	}
	health.Answer(w, health)
}

// checkJournal warns when the event store can't be used. The API stays ready, because only three queries need the
// store.
func (s *Server) checkJournal(ctx context.Context, health *readmodel.Health) {
	ctx, cancel := context.WithTimeout(ctx, journalCheckTimeout)
	defer cancel()
	if err := s.journal.check(ctx); err != nil {
		s.log.WarnContext(ctx, "the event store can't be used: threadHistory, threadAt and accountHistory are UNAVAILABLE", "error", err)
		health.Warnings = append(health.Warnings, "the event store can't be used, so threadHistory, threadAt and accountHistory are UNAVAILABLE: "+
			cmp.Or(httpserver.PublicReason(err), "the log says why"))
	}
}
