package task

import "fmt"

// Decide returns the events that result from the command on t, or the rejection. It is pure.
func Decide(t Task, order Order) ([]Event, error) {
	event, err := t.decide(order)
	if err != nil {
		return nil, err
	}
	return []Event{event}, nil
}

func (t Task) decide(order Order) (Event, error) {
	if create, begins := order.(Create); begins {
		if t.Status != "" {
			return nil, ErrTaskOvertaken
		}
		return Created(create), nil
	}
	if cancel, cancels := order.(Cancel); cancels && cancel.Executor != t.Creator && !cancel.Operator {
		return nil, ErrTaskNotFound // a task is invisible to other accounts
	}
	if err := t.Usable(); err != nil {
		return nil, err
	}
	switch o := order.(type) {
	case Create: // see above
	case Start:
		return Started{}, overtaken(t.Status == Running)
	case Report:
		return Progressed(o), overtaken(o.Parts <= t.Progress.Parts)
	case Succeed:
		return Finished{Status: Succeeded, Progress: o.Progress}, overtaken(o.Progress.Parts < t.Progress.Parts)
	case Fail:
		return Finished{Status: Failed, Progress: o.Progress, Message: o.Message}, overtaken(o.Progress.Parts < t.Progress.Parts)
	case Cancel:
		return Finished{Status: Cancelled, Progress: t.Progress}, nil
	}
	// The set of commands is closed: only a new command without a case can get here.
	panic(fmt.Sprintf("task: no decision for command %T", order))
}

// overtaken returns [ErrTaskOvertaken] if it is so.
func overtaken(so bool) error {
	if so {
		return ErrTaskOvertaken
	}
	return nil
}

// Event is a fact about a task. The set is closed. Every event after Started has the whole progress, so the first and
// the last event describe the task completely.
//
//sumtype:decl
type Event interface{ isEvent() }

// Created: the task was created.
type Created struct{ Request }

// Started: a worker has begun.
type Started struct{}

// Progressed: a worker has finished more parts.
type Progressed struct{ Progress }

// Finished: the task has reached a final status.
type Finished struct {
	Status  Status `json:"status"`
	Message string `json:"message"` // why it failed; otherwise empty
	Progress
}

func (Created) isEvent()    {}
func (Started) isEvent()    {}
func (Progressed) isEvent() {}
func (Finished) isEvent()   {}

// Apply returns the state after the event. It never fails.
func (t Task) Apply(event Event) Task {
	switch e := event.(type) {
	case Created:
		return Task{Creator: e.Creator, Status: Queued, Progress: Progress{Total: e.Total}}
	case Started:
		t.Status = Running
	case Progressed:
		t.Status, t.Progress = Running, e.Progress
	case Finished:
		t.Status, t.Progress = e.Status, e.Progress
	default:
		// The set of events is closed: only a new event without a case can get here.
		panic(fmt.Sprintf("task: no state after event %T", event))
	}
	return t
}
