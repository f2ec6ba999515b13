package operate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/archive" // extra:archive
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/interfaceadaptor/admission"
)

const (
	maxStreams  = 32
	maxNews     = 50  // events in a message
	maxFound    = 200 // events in an answer
	maxFollowed = 200 // aggregates of a stream whose rows are behind
	lookEvery   = 50 * time.Millisecond
	keepAlive   = 10 * time.Second
	sendTimeout = 15 * time.Second
)

// Event is an event of the journal, for people and programs.
type Event struct {
	Position uint64 `json:"position,omitempty"` // in the order of the store, if it has one
	Named
	SeqNr uint64 `json:"seq_nr"`
	Event any    `json:"event"` // see [Payload]
}

// Payload shows a payload as JSON if it is valid, otherwise as text.
func Payload(payload []byte) any {
	if json.Valid(payload) {
		return json.RawMessage(payload)
	}
	return string(payload)
}

// news is a message of a stream. The first one, which is empty, says that what happens from now on is told.
type news struct {
	Events    []Event     `json:"events,omitempty"`
	Skipped   int         `json:"skipped,omitempty"`   // events before these that are left out, because there are many
	Head      uint64      `json:"head,omitempty"`      // the position of the last event, if the store has positions
	Projected []projected `json:"projected,omitempty"` // aggregates whose rows have changed
}

type projected struct {
	Named
	Version uint64 `json:"version"`
}

// stream tells a client which events enter the journal, and when the rows follow. It follows the journal with a source
// of its own, from where the projection is, and is the source's [projection.Sink]: so a slow client delays nobody else.
type stream struct {
	writer http.ResponseWriter
	end    context.CancelFunc // when the client can't be reached

	mutex  sync.Mutex                   // guards what follows, and the writer
	sent   time.Time                    // when the last message was
	behind map[es.AggregateID]*followed // aggregates whose rows are behind
}

// followed is the version of an aggregate in the journal, and in its rows as last told.
type followed struct{ journal, rows uint64 }

// follow answers with server-sent events until the client leaves, its token expires or the program stops.
func (o operations) follow(w http.ResponseWriter, r *http.Request) error {
	guard := admission.Of(r)
	if _, err := guard.Enter(admission.Ask{Stage: admission.Stream, Rights: []admission.Right{admission.Operate}}); err != nil {
		return err
	}
	if !o.streams.TryAcquire(1) {
		return &admission.Refusal{
			Status: http.StatusTooManyRequests, Code: "too_many_requests", Detail: "too many others follow the events; try again later",
			Header: http.Header{"Retry-After": {"10"}},
		}
	}
	defer o.streams.Release(1)
	databases, positions, err := o.updater.Opened()
	if err != nil {
		return err
	}
	ctx, end := guard.Stay(r.Context())
	defer end()
	defer context.AfterFunc(o.stopping, end)()
	s := &stream{writer: w, end: end, sent: time.Now(), behind: map[es.AggregateID]*followed{}}
	source, err := databases.Source(s, startAt{positions}, lookEvery)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer events
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	var rows sync.WaitGroup
	rows.Go(func() { s.followRows(ctx, positions) })
	source.Run(ctx)
	rows.Wait()
	return nil
}

// startAt are [projection.Checkpoints] that begin where the projection is, and leave its own alone.
type startAt struct{ *rowstore.Store }

func (startAt) Forget(context.Context, string, ...string) error { return nil }

func (s *stream) Begin(context.Context, bool) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.send(news{})
	return nil
}

// OweRepair does nothing: what the source has lost is not told.
func (*stream) OweRepair(context.Context) error { return nil }

func (s *stream) Project(_ context.Context, batch projection.Batch) (projection.Outcome, error) {
	if len(batch.Records) == 0 {
		return projection.Outcome{}, nil
	}
	mark, _, _ := strings.Cut(batch.Checkpoint.Position, " ")
	head, _ := strconv.ParseUint(mark, 10, 64) // 0: the source has no positions
	told := news{Head: head, Skipped: max(0, len(batch.Records)-maxNews)}
	for _, record := range batch.Records[told.Skipped:] {
		told.Events = append(told.Events, Event{0, Name(record.Key), record.SeqNr, Payload(record.Payload)})
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, record := range batch.Records {
		switch known := s.behind[record.Key]; {
		case known != nil:
			known.journal = max(known.journal, record.SeqNr)
		case len(s.behind) < maxFollowed:
			s.behind[record.Key] = &followed{journal: record.SeqNr}
		}
	}
	s.send(told)
	return projection.Outcome{}, nil
}

// followRows tells when rows follow, until ctx ends. It sends a message now and then also without news.
func (s *stream) followRows(ctx context.Context, positions projection.Store) {
	for es.Wait(ctx, lookEvery) == nil {
		s.mutex.Lock()
		keys := slices.Collect(maps.Keys(s.behind))
		s.mutex.Unlock()
		versions, _ := positions.Versions(ctx, keys) // health reports an error
		var told news
		s.mutex.Lock()
		for key, version := range versions {
			known := s.behind[key]
			if version >= known.journal {
				delete(s.behind, key)
			}
			if version != known.rows {
				known.rows = version
				told.Projected = append(told.Projected, projected{Name(key), version})
			}
		}
		if len(told.Projected) > 0 || time.Since(s.sent) > keepAlive {
			s.send(told)
		}
		s.mutex.Unlock()
	}
}

// send writes a message, or ends the stream. The caller holds the mutex.
func (s *stream) send(message news) {
	s.sent = time.Now()
	text, _ := json.Marshal(message) // never fails: what is raw is valid
	controller := http.NewResponseController(s.writer)
	err := controller.SetWriteDeadline(s.sent.Add(sendTimeout))
	if err == nil {
		_, err = fmt.Fprintf(s.writer, "data: %s\n\n", text)
	}
	if err != nil || controller.Flush() != nil {
		s.end()
	}
}

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
