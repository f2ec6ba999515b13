package chat

import (
	"errors"
	"strings"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/usecase/query"
)

// taskRowsVersion rises with every change that makes other rows of the same events; see threadRowsVersion.
const taskRowsVersion = 2

// TaskRows is the [projection.Handler] of tasks.
func TaskRows(store projection.RowStore[query.Task], events *es.Codec[task.Event]) projection.Handler {
	return projection.OneRow[task.Event, query.Task]{
		Events: events, Version: taskRowsVersion, Next: NextTask, Rows: store,
	}
}

// maxTaskMessage is the maximum length of a row's message, in bytes.
const maxTaskMessage = 1000

// NextTask is the row after recorded, an event of its task. It leaves nothing out when events between the first and
// recorded are missing.
func NextTask(row query.Task, exists bool, recorded es.Recorded[task.Event]) (query.Task, error) {
	by, err := auditOf(recorded.Envelope)
	if err != nil {
		return row, err
	}
	created, begins := recorded.Event.(task.Created)
	switch {
	case begins && exists:
		return row, errors.New("the task exists already")
	case begins:
		r := created.Request
		by.CreatedBy = r.Creator
		return query.Task{
			Tenant: recorded.Tenant, ID: task.IDOf(recorded.Aggregate()), Kind: r.Kind, Status: task.Queued, Total: r.Total,
			Version: recorded.SeqNr, CreatedAt: recorded.OccurredAt, UpdatedAt: recorded.OccurredAt, Audit: by,
		}, nil
	case !exists:
		return row, errors.New("the task does not exist")
	case row.Finished():
		return row, errors.New("the task is finished")
	}
	progress := func(p task.Progress) { row.Done, row.Total, row.Rejected = p.Done, p.Total, p.Rejected }
	switch e := recorded.Event.(type) {
	case task.Created: // see above
	case task.Started:
		row.Status = task.Running
	case task.Progressed:
		row.Status = task.Running
		progress(e.Progress)
	case task.Finished:
		row.Status, row.Message = e.Status, e.Message
		if len(row.Message) > maxTaskMessage {
			row.Message = strings.ToValidUTF8(row.Message[:maxTaskMessage], "")
		}
		progress(e.Progress)
	}
	row.Version, row.UpdatedAt, row.Audit = recorded.SeqNr, recorded.OccurredAt, changedBy(by, row.Audit)
	return row, nil
}
