package task

import (
	"errors"

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
