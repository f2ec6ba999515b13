package operate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/archive" // extra:archive
)

const (
	maxFound   = 200     // events in an answer
	maxLooked  = 100_000 // events that a request reads where the store can't search
	lookAtOnce = 1000    // of these, in one reading of an aggregate
)

// searcher is a journal that finds events of all aggregates, in their order. DynamoDB has no order of all events.
type searcher interface {
	Search(ctx context.Context, id es.AggregateID, like es.Entry, since, until time.Time, before uint64, limit int) ([]es.Queued, uint64, error)
}

func searcherOf(journal es.Journal) (searcher, bool) {
	if behind, is := journal.(*archive.Store); is { // extra:archive {
		journal = behind.Store // it finds what is in the journal
	} // extra:archive }
	able, is := journal.(searcher)
	return able, is
}

// found is a page of the journal, the latest events first.
type found struct {
	Events  []Event `json:"events"`
	Next    uint64  `json:"next,omitempty"`    // to go on before; 0: there are no more
	Further string  `json:"further,omitempty"` // to go on after, where the store has no order of all events
}

var errQuery = refuse(http.StatusUnprocessableEntity, "invalid_request",
	"ask with tenant and aid, type, executor, correlation, since and until (RFC 3339), before (an answer's next), "+
		"after (an answer's further), and limit (1 to 200)")

// wanted is what a search asks for. What is not set, everything matches.
type wanted struct {
	id           es.AggregateID
	like         es.Entry // EventType, UserID and CorrelationID
	since, until time.Time
	before       uint64
	after        string
	limit        int
}

// visible are the characters of event types and accounts. MySQL refuses to compare them with others.
var visible = regexp.MustCompile(`^[!-~]*$`)

func parseWanted(values url.Values) (w wanted, err error) {
	if aid := values.Get("aid"); aid != "" {
		if w.id, err = es.ParseAggregateID(es.Tenant(values.Get("tenant")), aid); err == nil {
			err = w.id.Check()
		}
	}
	none := time.Time{}.Format(time.RFC3339)
	var sinceErr, untilErr, limitErr, beforeErr error
	w.like = es.Entry{EventType: values.Get("type"), UserID: values.Get("executor"), CorrelationID: values.Get("correlation")}
	w.since, sinceErr = time.Parse(time.RFC3339, cmp.Or(values.Get("since"), none))
	w.until, untilErr = time.Parse(time.RFC3339, cmp.Or(values.Get("until"), none))
	w.limit, limitErr = strconv.Atoi(cmp.Or(values.Get("limit"), "50"))
	w.before, beforeErr = strconv.ParseUint(cmp.Or(values.Get("before"), "0"), 10, 63)
	w.after = values.Get("after")
	wrong := !visible.MatchString(w.like.EventType) || !visible.MatchString(w.like.UserID) || w.limit < 1 || w.limit > maxFound
	if cmp.Or(err, sinceErr, untilErr, limitErr, beforeErr) != nil || wrong {
		return w, errQuery
	}
	return w, nil
}

// search answers with a page of the journal.
func (o operations) search(ctx context.Context, ask order) (found, error) {
	answer := found{Events: []Event{}}
	databases, _, err := o.updater.Opened()
	if err != nil {
		return answer, err
	}
	w, err := parseWanted(ask.values)
	if err != nil {
		return answer, err
	}
	if journal, able := searcherOf(databases.Journal); able {
		var page []es.Queued
		page, answer.Next, err = journal.Search(ctx, w.id, w.like, w.since, w.until, w.before, w.limit)
		for _, each := range page {
			answer.Events = append(answer.Events, Event{each.Position, Name(each.ID), each.SeqNr, Payload(each.Payload)})
		}
		return answer, err
	}
	if w.id != (es.AggregateID{}) {
		err = answer.lookBack(ctx, databases.Journal, w)
	} else {
		err = answer.lookThrough(ctx, databases.Journal, w)
	}
	return answer, err
}

// lookBack finds events of an aggregate.
func (f *found) lookBack(ctx context.Context, journal es.Journal, w wanted) error {
	head, err := journal.Head(ctx, w.id)
	if err != nil {
		return err
	}
	last := min(head.Version, cmp.Or(w.before, math.MaxUint64)-1)
	atOnce := w.limit // enough, if all are wanted
	for looked := 0; last > 0 && len(f.Events) < w.limit && looked < maxLooked; looked, atOnce = looked+atOnce, lookAtOnce {
		after := last - min(last, uint64(atOnce))
		var some []Event // the latest, as many as are wanted
		more := false
		for entry, err := range journal.Entries(ctx, w.id, after, last) {
			if err != nil {
				return err
			}
			if _, is := w.matches(entry.Payload); is {
				if more = more || len(some) == w.limit-len(f.Events); more {
					some = slices.Delete(some, 0, 1)
				}
				some = append(some, Event{0, Name(w.id), entry.SeqNr, Payload(entry.Payload)})
			}
		}
		last = after
		if more {
			last = some[0].SeqNr - 1
		}
		slices.Reverse(some)
		f.Events = append(f.Events, some...)
	}
	if last > 0 {
		f.Next = last + 1
	}
	return nil
}

// lookThrough finds events in the store's own order, to the end of one of its pages, and sorts what it has found. As
// the end of the journal is known only from reading on, it reads a page more.
func (f *found) lookThrough(ctx context.Context, journal es.Journal, w wanted) error {
	type match struct {
		Event
		at time.Time
	}
	var matches []match
	looked, next := 0, ""
	for page, err := range journal.ReadJournal(ctx, 0, 1, w.after) {
		if err != nil && looked == 0 && w.after != "" && !errors.Is(err, es.ErrUnavailable) {
			return errQuery // it is no position
		}
		if err != nil {
			return err
		}
		if len(matches) >= w.limit || looked >= maxLooked {
			f.Further = next
			break
		}
		for _, each := range page.Entries {
			if at, is := w.matches(each.Payload); is {
				matches = append(matches, match{Event{0, Name(each.ID), each.SeqNr, Payload(each.Payload)}, at})
			}
		}
		looked, next = looked+len(page.Entries), page.Next
	}
	slices.SortStableFunc(matches, func(a, b match) int { return b.at.Compare(a.at) })
	for _, each := range matches {
		f.Events = append(f.Events, each.Event)
	}
	return nil
}

// matches reports whether an event is wanted, and when it occurred.
func (w wanted) matches(payload []byte) (time.Time, bool) {
	var event struct {
		Type          string          `json:"type"`
		Executor      json.RawMessage `json:"executor_id"`
		CorrelationID string          `json:"correlation_id"`
		OccurredAt    time.Time       `json:"occurred_at"`
	}
	_ = json.Unmarshal(payload, &event) // what can't be read has no fields
	var executor string
	if len(event.Executor) > 0 {
		executor, _ = es.IDText(event.Executor)
	}
	same := func(want, is string) bool { return want == "" || want == is }
	return event.OccurredAt, same(w.like.EventType, event.Type) && same(w.like.UserID, executor) && same(w.like.CorrelationID, event.CorrelationID) &&
		!event.OccurredAt.Before(w.since) && (w.until.IsZero() || !event.OccurredAt.After(w.until))
}
