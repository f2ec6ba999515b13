package task

import (
	"encoding/json"
	"errors"
	"fmt"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
)

// Events returns the codec of tasks' events.
func Events() *es.Codec[Event] {
	return es.NewCodec(AggregateType, ident.Canonical,
		es.Event[Event]("TaskCreated", wireCreatedOf, wireCreated.event),
		es.Plain[Event, Started]("TaskStarted"),
		es.Event[Event]("TaskProgressed",
			func(e Progressed) wireProgressed { return wireProgressed{progressOf(e.Progress)} }, wireProgressed.event),
		es.Event[Event]("TaskFinished", wireFinishedOf, wireFinished.event),
	)
}

// Every field is required: a missing field is an error, not zero.

type wireProgress struct {
	Parts    *uint64 `json:"parts"`
	Done     *uint64 `json:"done"`
	Total    *uint64 `json:"total"`
	Rejected *uint64 `json:"rejected"`
}

func progressOf(p Progress) wireProgress {
	return wireProgress{&p.Parts, &p.Done, &p.Total, &p.Rejected}
}

func (w wireProgress) progress() (Progress, error) {
	if w.Parts == nil || w.Done == nil || w.Total == nil || w.Rejected == nil {
		return Progress{}, errors.New("parts, done, total and rejected must be there")
	}
	return Progress{Parts: *w.Parts, Done: *w.Done, Total: *w.Total, Rejected: *w.Rejected}, nil
}

type wireProgressed struct{ wireProgress }

func (w wireProgressed) event() (e Progressed, err error) {
	e.Progress, err = w.progress()
	return e, err
}

type wireFinished struct {
	Status  string  `json:"status"`
	Message *string `json:"message"`
	wireProgress
}

func wireFinishedOf(e Finished) wireFinished {
	return wireFinished{string(e.Status), &e.Message, progressOf(e.Progress)}
}

func (w wireFinished) event() (e Finished, err error) {
	if e.Progress, err = w.progress(); err != nil {
		return e, err
	}
	e.Status = Status(w.Status)
	if e.Status != Succeeded && e.Status != Failed && e.Status != Cancelled || w.Message == nil {
		return e, errors.New("message must be there, and status must be succeeded, failed or cancelled")
	}
	e.Message = *w.Message
	return e, nil
}

type wireCreated struct {
	CreatedBy string  `json:"created_by"`
	Kind      string  `json:"kind"`
	Subject   *string `json:"subject"`
	Parts     *uint64 `json:"parts"`
	Total     *uint64 `json:"total"`
	ForOthers *bool   `json:"for_others"`
}

func wireCreatedOf(e Created) wireCreated {
	r := e.Request
	return wireCreated{r.Creator.String(), string(r.Kind), &r.Subject, &r.Parts, &r.Total, &r.ForOthers}
}

func (w wireCreated) event() (e Created, err error) {
	if w.Kind == "" || w.Subject == nil || w.Parts == nil || w.Total == nil || w.ForOthers == nil {
		return e, errors.New("kind, subject, parts, total and for_others must be there")
	}
	creator, err := ident.Parse[ident.UserAccount](w.CreatedBy)
	if err != nil {
		return e, err
	}
	e.Request = Request{
		Creator: creator, Kind: Kind(w.Kind), Subject: *w.Subject, Parts: *w.Parts, Total: *w.Total, ForOthers: *w.ForOthers,
	}
	return e, nil
}

// wireSnapshot is the state of a task. Fields may be added if their absence keeps its meaning; any other change needs a
// new format.
type wireSnapshot struct {
	Format    int    `json:"format"`
	ID        string `json:"id"`
	CreatedBy string `json:"created_by"`
	Status    string `json:"status"`
	wireProgress
	Version uint64 `json:"version"`
}

const snapshotFormat = 1

// Snapshots is the codec of tasks' snapshots.
type Snapshots struct{}

// Size returns the approximate memory that a state takes, in bytes.
func (Snapshots) Size(Task) int { return 500 }

// Encode encodes the state of the task at the version.
func (Snapshots) Encode(id string, version uint64, state Task) ([]byte, error) {
	return json.Marshal(wireSnapshot{
		Format: snapshotFormat, ID: id, CreatedBy: state.creator.String(), Status: string(state.status), wireProgress: progressOf(state.progress), Version: version,
	})
}

// Decode decodes a snapshot.
func (Snapshots) Decode(payload []byte) (id string, version uint64, state Task, err error) {
	var w wireSnapshot
	if err = json.Unmarshal(payload, &w); err == nil {
		id, state, err = w.read()
	}
	if err != nil {
		return "", 0, Task{}, fmt.Errorf("the snapshot can't be read: %v", err) //nolint:errorlint // not an error of the caller
	}
	return id, w.Version, state, nil
}

func (w wireSnapshot) read() (id string, state Task, err error) {
	switch {
	case w.Format > snapshotFormat:
		return "", state, fmt.Errorf("its format %d is newer than %d", w.Format, snapshotFormat)
	case w.Status == "" || w.Version == 0:
		return "", state, errors.New("status and version must be there")
	}
	state.status = Status(w.Status)
	if state.creator, err = ident.Parse[ident.UserAccount](w.CreatedBy); err != nil {
		return "", state, err
	}
	if state.progress, err = w.progress(); err != nil {
		return "", state, err
	}
	id, err = ident.Canonical(w.ID)
	return id, state, err
}
