package operate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/interfaceadaptor/admission"
)

const (
	maxStreams  = 32
	maxNews     = 50     // events in a message
	maxBehind   = 10_000 // aggregates of a stream whose rows are behind
	maxAsked    = 200    // of these, whose rows are asked for at a time
	lookEvery   = 50 * time.Millisecond
	keepAlive   = 10 * time.Second
	sendTimeout = 15 * time.Second
)

// Event is an event of the journal, for people and programs.
type Event struct {
	Position uint64 `json:"position,omitempty"` // in the order that was searched: the store's, or the aggregate's
	Named
	SeqNr uint64 `json:"seq_nr"`
	Event any    `json:"event"` // see [Payload]
}

// Payload shows a payload, without the client's address, as JSON if it is valid, otherwise as text.
func Payload(payload []byte) any {
	payload = es.Entry{Payload: payload}.Public()
	if json.Valid(payload) {
		return json.RawMessage(payload)
	}
	return string(payload)
}

// news is a message of a stream. The first one says that what happens from now on is told, and where the journal is.
type news struct {
	Ordered   *bool       `json:"ordered,omitempty"` // in the first message: has the store an order of all events?
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
	writer  http.ResponseWriter
	journal searcher           // nil: the store has no order of all events
	end     context.CancelFunc // when the client can't be reached

	mutex  sync.Mutex                   // guards what follows, and the writer
	sent   time.Time                    // when the last message was
	behind map[es.AggregateID]*followed // aggregates whose rows are behind
}

// followed is the version of an aggregate in the journal, and in its rows as last told, if it was.
type followed struct {
	journal, rows uint64
	told          bool
}

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
	journal, _ := searcherOf(databases.Journal)
	s := &stream{writer: w, journal: journal, end: end, sent: time.Now(), behind: map[es.AggregateID]*followed{}}
	source, err := databases.Source(s, startAt{positions}, lookEvery)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer events
	// A body that nobody reads: net/http waits for it before it sends the answer, soon without a deadline.
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil
	}
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

func (s *stream) Begin(ctx context.Context, _ bool) error {
	ordered := s.journal != nil
	first := news{Ordered: &ordered}
	if ordered {
		last, _, err := s.journal.Search(ctx, es.AggregateID{}, es.Entry{}, time.Time{}, time.Time{}, 0, 1)
		if err != nil {
			return err
		}
		for _, event := range last {
			first.Head = event.Position
		}
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.send(first)
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
		case len(s.behind) < maxBehind:
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
		keys := slices.Collect(maps.Keys(s.behind)) // in no order, so all have their turn
		s.mutex.Unlock()
		keys = keys[:min(len(keys), maxAsked)]
		versions, err := positions.Versions(ctx, keys)
		if err != nil {
			keys = nil // health reports it
		}
		var told news
		s.mutex.Lock()
		for _, key := range keys {
			known, version := s.behind[key], versions[key] // 0: it has no rows yet, which a client may not know
			if version >= known.journal {
				delete(s.behind, key)
			}
			if !known.told || version != known.rows {
				known.rows, known.told = version, true
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
