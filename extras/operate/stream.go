package operate

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/run"
	"example.com/threads/interfaceadaptor/admission"
)

const (
	maxReaders  = 32  // of the stream
	maxUnread   = 64  // messages that wait for a slow reader; more are lost
	maxNews     = 50  // events in a message
	maxFollowed = 200 // aggregates whose rows are behind
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

// news is a message of the stream.
type news struct {
	Events    []Event     `json:"events,omitempty"`
	Skipped   int         `json:"skipped,omitempty"`   // events before these that are left out, because there are many
	Head      uint64      `json:"head,omitempty"`      // the position of the last event, if the store has positions
	Projected []projected `json:"projected,omitempty"` // aggregates whose rows have changed
	Lost      bool        `json:"lost,omitempty"`      // the reader is too slow, and has missed messages
}

type projected struct {
	Named
	Version uint64 `json:"version"`
}

// stream tells its readers which events enter the journal, and when the rows follow. It follows the journal with a
// source of its own, from where the projection is, only while there are readers. It is the source's [projection.Sink].
type stream struct {
	stopping context.Context // ends all
	updater  *run.Updater
	log      *slog.Logger

	mutex   sync.Mutex
	readers map[*reader]bool
	running context.Context // ends with the source
	end     context.CancelFunc
	begun   bool                         // the source knows where it begins
	behind  map[es.AggregateID]*followed // aggregates whose rows are behind
}

// reader gets messages, of which the first, an empty one, says that what happens from now on is told.
type reader struct {
	messages chan []byte
	lost     atomic.Bool
}

var nothing = []byte("{}") // the empty message

// followed is the version of an aggregate in the journal, and in its rows as last told.
type followed struct{ journal, rows uint64 }

// join adds a reader. The first one starts the source.
func (s *stream) join() (*reader, error) {
	databases, positions, err := s.updater.Opened()
	if err != nil {
		return nil, err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.readers) >= maxReaders {
		return nil, &admission.Refusal{
			Status: http.StatusTooManyRequests, Code: "too_many_requests", Detail: "too many others follow the events; try again later",
			Header: http.Header{"Retry-After": {"10"}},
		}
	}
	if len(s.readers) == 0 {
		source, err := databases.Source(s, startAt{positions}, lookEvery)
		if err != nil {
			return nil, err
		}
		s.running, s.end = context.WithCancel(s.stopping)
		s.begun, s.readers, s.behind = false, map[*reader]bool{}, map[es.AggregateID]*followed{}
		go source.Run(s.running)
		go s.follow(s.running, positions)
	}
	joined := &reader{messages: make(chan []byte, maxUnread)}
	if s.begun {
		joined.messages <- nothing
	}
	s.readers[joined] = true
	return joined, nil
}

func (s *stream) leave(leaving *reader) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if delete(s.readers, leaving); len(s.readers) == 0 {
		s.end()
	}
}

// startAt are [projection.Checkpoints] that begin where the projection is, and leave its own alone.
type startAt struct{ *rowstore.Store }

func (startAt) Forget(context.Context, string, ...string) error { return nil }

func (s *stream) Begin(context.Context, bool) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.begun = true
	s.tell(news{})
	return nil
}

// OweRepair does nothing: what the source has lost is not told.
func (*stream) OweRepair(context.Context) error { return nil }

func (s *stream) Project(_ context.Context, batch projection.Batch) (projection.Outcome, error) {
	if len(batch.Records) == 0 {
		return projection.Outcome{}, nil
	}
	var told news
	told.Skipped = max(0, len(batch.Records)-maxNews)
	mark, _, _ := strings.Cut(batch.Checkpoint.Position, " ")
	told.Head, _ = strconv.ParseUint(mark, 10, 64) // 0: the source has no positions
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
	s.tell(told)
	return projection.Outcome{}, nil
}

// follow tells when rows follow, until ctx ends.
func (s *stream) follow(ctx context.Context, positions projection.Store) {
	for es.Wait(ctx, lookEvery) == nil {
		s.mutex.Lock()
		keys := slices.Collect(maps.Keys(s.behind))
		s.mutex.Unlock()
		if versions, err := positions.Versions(ctx, keys); err == nil { // or else health reports it
			s.arrived(versions)
		}
	}
}

func (s *stream) arrived(versions map[es.AggregateID]uint64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var told news
	for key, version := range versions {
		known := s.behind[key]
		if known == nil || known.rows == version {
			continue
		}
		known.rows = version
		told.Projected = append(told.Projected, projected{Name(key), version})
		if version >= known.journal {
			delete(s.behind, key)
		}
	}
	if len(told.Projected) > 0 {
		s.tell(told)
	}
}

// tell tells all readers. It waits for none. The caller holds the mutex.
func (s *stream) tell(told news) {
	message, _ := json.Marshal(told) // never fails: what is raw is valid
	for each := range s.readers {
		select {
		case each.messages <- message:
		default:
			each.lost.Store(true)
		}
	}
}

// serve answers with server-sent events until the client leaves, its token expires or the program stops.
func (s *stream) serve(w http.ResponseWriter, r *http.Request) error {
	guard := admission.Of(r)
	if _, err := guard.Enter(admission.Ask{Stage: admission.Stream, Rights: []admission.Right{admission.Operate}}); err != nil {
		return err
	}
	ctx, release := guard.Stay(r.Context())
	defer release()
	defer context.AfterFunc(s.stopping, release)()
	joined, err := s.join()
	if err != nil {
		return err
	}
	defer s.leave(joined)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer events
	controller := http.NewResponseController(w)
	for err = controller.SetReadDeadline(time.Time{}); err == nil; {
		message := nothing // still here
		select {
		case message = <-joined.messages:
		case <-time.After(keepAlive):
		case <-ctx.Done():
			return nil
		}
		if joined.lost.Swap(false) {
			message = []byte(`{"lost":true}`)
		}
		if err = controller.SetWriteDeadline(time.Now().Add(sendTimeout)); err == nil {
			_, err = w.Write(slices.Concat([]byte("data: "), message, []byte("\n\n")))
		}
		if err == nil {
			err = controller.Flush()
		}
	}
	return nil // the answer has begun
}
