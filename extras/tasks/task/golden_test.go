package task_test

import (
	"strings"
	"testing"

	"example.com/threads/domain/ident"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/tests/codectest"
)

var (
	writer = func() ident.UserID {
		id, err := ident.Parse[ident.UserAccount](codectest.Executor)
		if err != nil {
			panic(err)
		}
		return id
	}()
	stored  = task.Progress{Parts: 2, Done: 700, Total: 900, Rejected: 3}
	written = task.Created{Request: task.Request{
		Creator: writer, Kind: task.Command, Subject: "/threads/rename", Parts: 1, Total: 1, ForOthers: true,
	}}
	today = []task.Event{
		written, task.Started{}, task.Progressed{Progress: stored},
		task.Finished{Status: task.Failed, Message: "the thread \"茶\" does not exist", Progress: stored},
	}

	queued = task.Task{}.Apply(written)
	states = map[string]task.Task{"snapshot-3.json": queued, "snapshot-3-progressed.json": queued.Apply(today[2])}
)

func TestEvents(t *testing.T) {
	codectest.Events(t, "example.com/threads/extras/tasks/task", task.Events(), codectest.EventID, today...)
}

func TestSnapshots(t *testing.T) {
	codectest.Snapshots(t, "task", task.Aggregate().StateCodec(), codectest.EventID, states, "snapshot-1.json", "snapshot-1-progressed.json")
}

// Their names were written in another case.
func TestFormerSnapshotsAreRead(t *testing.T) {
	for name, want := range states {
		former := codectest.Golden(t, "task/"+strings.Replace(name, "snapshot-3", "snapshot-2", 1))
		if _, _, got, err := task.Aggregate().StateCodec().Decode(former); err != nil || got != want {
			t.Errorf("%s: %+v, want %+v, %v", name, got, want, err)
		}
	}
}
