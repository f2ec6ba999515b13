package projectiontest

import (
	"context"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// view: a change of an aggregate that is being viewed does not wait, and the view does not see it.
func view(t *testing.T, db Database) {
	journal := NewJournal()
	s := begin(t, journal, "")
	s.write("before")
	projector := newProjector(db, journal, newClock())
	project(t, projector, s.all()...)
	s.write("after")

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := db.View(ctx, func(ctx context.Context, tx projection.Tx) error {
		for range 2 {
			positions, err := tx.Load(ctx, []es.AggregateID{s.key})
			if err != nil {
				return err
			}
			if got := positions[s.key].Version; got != 2 {
				t.Errorf("the view is at version %d", got)
			}
			if _, err := projector.Project(ctx, projection.Batch{Records: s.records(3, 3)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	expectVersion(t, db, s.key, 3)
}
