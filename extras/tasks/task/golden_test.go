package task_test

import (
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
	states = map[string]task.Task{"snapshot-2.json": queued, "snapshot-2-progressed.json": queued.Apply(today[2])}
)

func TestEvents(t *testing.T) {
	codectest.Events(t, "example.com/threads/extras/tasks/task", task.Events(), codectest.EventID, today...)
}

func TestSnapshots(t *testing.T) {
	codectest.Snapshots(t, "task", task.Aggregate().StateCodec(), codectest.EventID, states, "snapshot-1.json", "snapshot-1-progressed.json")
}
