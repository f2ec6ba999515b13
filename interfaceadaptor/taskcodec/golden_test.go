package taskcodec_test

import (
	"testing"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/task"
	"example.com/threads/interfaceadaptor/taskcodec"
	"example.com/threads/tests/codectest"
)

var (
	creator = func() ident.UserID {
		id, err := ident.Parse[ident.UserAccount](codectest.Executor)
		if err != nil {
			panic(err)
		}
		return id
	}()
	progress = task.Progress{Parts: 2, Done: 700, Total: 900, Rejected: 3}
	created  = task.Created{Request: task.Request{
		Creator: creator, Kind: task.Command, Subject: "/threads/rename", Parts: 1, Total: 1, ForOthers: true,
	}}
	today = []task.Event{
		created, task.Started{}, task.Progressed{Progress: progress},
		task.Finished{Status: task.Failed, Message: "the thread \"茶\" does not exist", Progress: progress},
	}

	queued = task.Task{}.Apply(created)
	states = map[string]task.Task{"snapshot-1.json": queued, "snapshot-1-progressed.json": queued.Apply(today[2])}
)

func TestEvents(t *testing.T) {
	codectest.Events(t, "example.com/threads/domain/task", taskcodec.Events(), codectest.EventID, today...)
}

func TestSnapshots(t *testing.T) {
	codectest.Snapshots(t, taskcodec.Snapshots{}, codectest.EventID, states)
}
