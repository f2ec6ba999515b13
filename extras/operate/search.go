package operate

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/archive" // extra:archive
)

const maxFound = 200 // events in an answer

// searcher is a journal that finds events of all aggregates. DynamoDB has keys for those of one aggregate only.
type searcher interface {
	Search(ctx context.Context, id es.AggregateID, like es.Entry, since, until time.Time, before uint64, limit int) ([]es.Queued, uint64, error)
}

// found is a page of the journal, the latest events first.
type found struct {
	Events []Event `json:"events"`
	Next   uint64  `json:"next,omitempty"` // to go on before; 0: there are no more
}

var (
	errQuery = refuse(http.StatusUnprocessableEntity, "invalid_request",
		"ask with tenant and aid, type, executor, correlation, since and until (RFC 3339), before (an answer's next), and limit (1 to 200)")
	errByAggregate = refuse(http.StatusUnprocessableEntity, "invalid_request",
		"this event store finds events by aggregate only: name tenant and aid, and nothing else")
)

// search answers with a page of the journal. Without a value of the URL's query, everything matches.
func (o operations) search(ctx context.Context, ask order) (found, error) {
	answer := found{Events: []Event{}}
	databases, _, err := o.updater.Opened()
	if err != nil {
		return answer, err
	}
	var id es.AggregateID
	if aid := ask.values.Get("aid"); aid != "" {
		if id, err = es.ParseAggregateID(es.Tenant(ask.values.Get("tenant")), aid); err == nil {
			err = id.Check()
		}
	}
	like := es.Entry{EventType: ask.values.Get("type"), UserID: ask.values.Get("executor"), CorrelationID: ask.values.Get("correlation")}
	since, sinceErr := time.Parse(time.RFC3339, cmp.Or(ask.values.Get("since"), time.Time{}.Format(time.RFC3339)))
	until, untilErr := time.Parse(time.RFC3339, cmp.Or(ask.values.Get("until"), time.Time{}.Format(time.RFC3339)))
	limit, limitErr := strconv.Atoi(cmp.Or(ask.values.Get("limit"), "50"))
	before, beforeErr := strconv.ParseUint(cmp.Or(ask.values.Get("before"), "0"), 10, 63)
	if cmp.Or(err, sinceErr, untilErr, limitErr, beforeErr) != nil || limit < 1 || limit > maxFound {
		return answer, errQuery
	}
	if behind, is := databases.Journal.(*archive.Store); is { // extra:archive {
		databases.Journal = behind.Store // it finds what is in the journal
	} // extra:archive }
	if journal, able := databases.Journal.(searcher); able {
		var page []es.Queued
		page, answer.Next, err = journal.Search(ctx, id, like, since, until, before, limit)
		for _, each := range page {
			answer.Events = append(answer.Events, Event{each.Position, Name(each.ID), each.SeqNr, Payload(each.Payload)})
		}
		return answer, err
	}
	if id == (es.AggregateID{}) || like.EventType+like.UserID+like.CorrelationID != "" || !since.IsZero() || !until.IsZero() {
		return answer, errByAggregate
	}
	head, err := databases.Journal.Head(ctx, id)
	upTo := min(head.Version, cmp.Or(before, math.MaxUint64)-1)
	after := upTo - min(upTo, uint64(limit))
	for entry, failed := range databases.Journal.Entries(ctx, id, after, upTo) {
		err = cmp.Or(err, failed)
		answer.Events = append(answer.Events, Event{0, Name(id), entry.SeqNr, Payload(entry.Payload)})
	}
	slices.Reverse(answer.Events)
	if after > 0 {
		answer.Next = after + 1
	}
	return answer, err
}
