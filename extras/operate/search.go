package operate

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"example.com/threads/es"
)

const maxFound = 200 // events in an answer

// searcher is a journal that finds events of all aggregates: those in relational databases. Another one, on DynamoDB,
// has keys for the events of one aggregate only.
type searcher interface {
	Search(ctx context.Context, id es.AggregateID, like es.Entry, since, until time.Time, before uint64, limit int) ([]es.Queued, uint64, error)
}

// found is a page of the journal, the latest events first.
type found struct {
	Events []Event `json:"events"`
	Next   uint64  `json:"next,omitempty"` // to go on before; 0: there are no more
}

// query is what to find; zero fields match everything.
type query struct {
	id           es.AggregateID
	like         es.Entry
	since, until time.Time
	before       uint64
	limit        int
}

var (
	errQuery = refuse(http.StatusUnprocessableEntity, "invalid_request",
		"ask with tenant and aid, type, executor, correlation, since and until (RFC 3339), before (an answer's next), and limit (1 to 200)")
	errByAggregate = refuse(http.StatusUnprocessableEntity, "invalid_request",
		"this event store finds events by aggregate only: name tenant and aid, and nothing else")
)

func queryOf(values url.Values) (asked query, err error) {
	asked.like = es.Entry{EventType: values.Get("type"), UserID: values.Get("executor"), CorrelationID: values.Get("correlation")}
	if aid := values.Get("aid"); aid != "" {
		if asked.id, err = es.ParseAggregateID(es.Tenant(values.Get("tenant")), aid); err == nil {
			err = asked.id.Check()
		}
	}
	var sinceErr, untilErr, limitErr, beforeErr error
	asked.since, sinceErr = time.Parse(time.RFC3339, cmp.Or(values.Get("since"), time.Time{}.Format(time.RFC3339)))
	asked.until, untilErr = time.Parse(time.RFC3339, cmp.Or(values.Get("until"), time.Time{}.Format(time.RFC3339)))
	asked.limit, limitErr = strconv.Atoi(cmp.Or(values.Get("limit"), "50"))
	asked.before, beforeErr = strconv.ParseUint(cmp.Or(values.Get("before"), "0"), 10, 63)
	if cmp.Or(err, sinceErr, untilErr, limitErr, beforeErr) != nil || asked.limit < 1 || asked.limit > maxFound {
		return asked, errQuery
	}
	return asked, nil
}

// search answers with a page of the journal.
func (o *operations) search(ctx context.Context, ask order) (any, error) {
	databases, _, err := o.updater.Opened()
	if err != nil {
		return nil, err
	}
	asked, err := queryOf(ask.values)
	if err != nil {
		return nil, err
	}
	answer := found{Events: []Event{}}
	if journal, able := databases.Journal.(searcher); able {
		var page []es.Queued
		page, answer.Next, err = journal.Search(ctx, asked.id, asked.like, asked.since, asked.until, asked.before, asked.limit)
		for _, each := range page {
			answer.Events = append(answer.Events, eventOf(each.Position, each.ID, each.SeqNr, each.Payload))
		}
		return answer, err
	}
	filtered := asked.like.EventType+asked.like.UserID+asked.like.CorrelationID != "" || !asked.since.IsZero() || !asked.until.IsZero()
	if asked.id == (es.AggregateID{}) || filtered {
		return nil, errByAggregate
	}
	head, err := databases.Journal.Head(ctx, asked.id)
	upTo := head.Version
	if asked.before > 0 {
		upTo = min(upTo, asked.before-1)
	}
	after := upTo - min(upTo, uint64(asked.limit))
	if err == nil {
		for entry, failed := range databases.Journal.Entries(ctx, asked.id, after, upTo) {
			if err = failed; err != nil {
				break
			}
			answer.Events = append(answer.Events, eventOf(0, asked.id, entry.SeqNr, entry.Payload))
		}
	}
	slices.Reverse(answer.Events)
	if after > 0 {
		answer.Next = after + 1
	}
	return answer, err
}
