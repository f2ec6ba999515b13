package tasks_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"example.com/threads/es"
	"example.com/threads/extras/tasks"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/kit/feed"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/tests/sealed"
	"example.com/threads/usecase/query"
)

// Each event is projected; then the row, its audit and the lists are compared.
func TestRowsOfTasks(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		reader := readmodeltest.NewReader(t, db.DB)
		given := feed.New(t, db.DB, chatrows.Projection, tasks.Handler())
		given.Caller = es.Caller{ClientIP: "192.0.2.1", RequestID: "a request", Source: "a test"}
		id, viewer := kit.NewID[task.Task](), query.Viewer{User: readmodeltest.NewUser()}
		progress := task.Progress{Parts: 1, Done: 4, Total: 10, Rejected: 2}
		want := tasks.Row{ID: id, Kind: task.Import, Progress: task.Progress{Total: 10}, CreatedAt: given.Now().Add(feed.Tick)}
		var covered []string
		for _, step := range []struct {
			event  task.Event
			status task.Status
			apply  func()
		}{
			{task.Created{Request: task.Request{Creator: viewer.User, Kind: task.Import, Parts: 3, Total: 10}}, task.Queued, func() {}},
			{task.Started{}, task.Running, func() {}},
			{task.Progressed{Progress: progress}, task.Running, func() { want.Done, want.Rejected = 4, 2 }},
			{task.Finished{Status: task.Failed, Progress: progress, Message: strings.Repeat("é", 600)}, task.Failed, func() { want.Message = strings.Repeat("é", 500) }},
		} {
			last := feed.Happened(given, task.Events(), es.Tenant(""), id.String(), step.event)[0]
			step.apply()
			want.Version, want.UpdatedAt, want.Status = want.Version+1, given.Now(), step.status
			covered = append(covered, sealed.Name(step.event))
			got, err := tasks.Find(t.Context(), reader, viewer, id)
			by := got.Audit
			if got.Audit = (query.Audit{}); err != nil || got != want || by.CreatedBy != viewer.User || by.UpdatedBy.String() != last.Executor {
				t.Errorf("after %T: %+v by %+v, %v, want %+v", step.event, got, by, err, want)
			}
			var stored []query.Audit
			err = tasks.Rows.Load(t.Context(), db.DB, [][]string{{"", id.String()}}, "", func(row tasks.Row) { stored = append(stored, row.Audit) })
			if err != nil || len(stored) != 1 || stored[0].UpdatedIP != last.ClientIP || stored[0].CreatedIP != "192.0.2.1" || stored[0].RequestID != "a request" || stored[0].Source != "a test" {
				t.Errorf("the audit after %T: %+v, %v", step.event, stored, err)
			}
			unfinished, err := tasks.Unfinished(db.DB)(t.Context(), []task.Kind{task.Import}, nil, 10)
			if err != nil || slices.Contains(unfinished, task.Key("", id)) != (step.status != task.Failed) {
				t.Errorf("to do after %T: %v, %v", step.event, unfinished, err)
			}
		}
		sealed.Check(t, "events that get into rows", sealed.Types(t, "example.com/threads/extras/tasks/task", "isEvent"), covered)
		if _, err := tasks.Find(t.Context(), reader, query.Viewer{User: readmodeltest.NewUser()}, id); !errors.Is(err, task.ErrTaskNotFound) {
			t.Errorf("somebody else's task: %v", err)
		}
	}, tasks.Schema())
}
