// extra:publishing

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/migration"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/sqlstore"
	"example.com/threads/extras/publishing"
	"example.com/threads/interfaceadaptor/eventjson"
)

const canary = "c4n4ry-of-the-broker"

// natsBroker is a real NATS server with files, which can be stopped and started again.
type natsBroker struct {
	folder string
	port   int
	server *server.Server
}

func (b *natsBroker) start(t *testing.T, largest int32) {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: b.port, JetStream: true, StoreDir: b.folder, NoLog: true, NoSigs: true, MaxPayload: largest, Authorization: canary,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(soon) {
		t.Fatal("the NATS server is not ready")
	}
	b.server, b.port = s, s.Addr().(*net.TCPAddr).Port
	t.Cleanup(b.stop)
}

func (b *natsBroker) stop() {
	b.server.Shutdown()
	b.server.WaitForShutdown()
}

func (b *natsBroker) url() string { return fmt.Sprintf("nats://%s@127.0.0.1:%d", canary, b.port) }

// subscriber reads the broker's stream from its beginning, and continues after a restart of the broker.
type subscriber struct {
	stream nats.JetStreamContext
	next   uint64
	seen   map[string]uint64 // the last seq_nr by subject
	faults []error
}

func (b *natsBroker) subscribe(t *testing.T) *subscriber {
	t.Helper()
	conn, err := nats.Connect(b.url(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	stream, err := conn.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	return &subscriber{stream: stream, next: 1, seen: map[string]uint64{}}
}

// read takes the published events that have arrived.
func (s *subscriber) read() error {
	for {
		m, err := s.stream.GetMsg("threads-events", s.next)
		if errors.Is(err, nats.ErrMsgNotFound) {
			return errors.Join(s.faults...)
		}
		if err != nil {
			return err
		}
		s.next++
		s.take(m.Data)
	}
}

// take checks that an event is the next one of its aggregate, or a repeat.
func (s *subscriber) take(body []byte) {
	var event struct {
		Subject string
		SeqNr   uint64
		Data    struct {
			SeqNr uint64 `json:"seq_nr"`
		}
	}
	if err := json.Unmarshal(body, &event); err != nil {
		s.faults = append(s.faults, err)
	}
	last := s.seen[event.Subject]
	if event.SeqNr > last+1 || event.SeqNr != event.Data.SeqNr || event.SeqNr == 0 {
		s.faults = append(s.faults, fmt.Errorf("event %d of %s was followed by event %d (%d)", last, event.Subject, event.SeqNr, event.Data.SeqNr))
	}
	s.seen[event.Subject] = max(last, event.SeqNr)
}

// isAt checks that all events of an aggregate up to a version have arrived, in order.
func (s *subscriber) isAt(key es.AggregateID, version uint64) error {
	if err := s.read(); err != nil {
		return err
	}
	if s.seen[key.String()] != version {
		return fmt.Errorf("the subscriber has %d of %d events of %s", s.seen[key.String()], version, key)
	}
	return nil
}

// onRelational makes the system use a relational event store.
func (s *world) onRelational(t *testing.T) *world {
	t.Helper()
	url := testenv.MySQL(t)
	s.env["EVENT_STORE"], s.env["EVENT_STORE_URL"] = "mysql", url
	db, err := database.Open(t.Context(), url, database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migration.Up(t.Context(), db, sqlstore.Schema()); err != nil {
		t.Fatal(err)
	}
	discard := slog.New(slog.DiscardHandler)
	gateway, err := sqlstore.New(t.Context(), db, sqlstore.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s.commands = es.NewService(eventjson.Threads(), gateway, es.Settings{Logger: discard})
	s.migrate(t)
	return s
}

// Every event must be published, in order within its thread, although the updater is killed, the broker is restarted,
// and an event is refused.
func TestEveryEventIsPublishedInOrder(t *testing.T) {
	for name, setUp := range map[string]func(*testing.T) *world{
		"DynamoDB": func(t *testing.T) *world { return newSystem(t).setUp(t) },
		"MySQL":    func(t *testing.T) *world { return newSystem(t).onRelational(t) },
	} {
		t.Run(name, func(t *testing.T) {
			s := setUp(t)
			broker := &natsBroker{folder: t.TempDir(), port: server.RANDOM_PORT}
			const small = 2000
			broker.start(t, small)
			s.env["PUBLISH_URL"] = broker.url()
			early := s.create(t)
			p := s.start(t)
			events := broker.subscribe(t)
			key, other := s.create(t), s.create(t)
			version := uint64(1)
			post := func(count int) {
				for range count {
					for _, at := range []es.AggregateID{key, other} {
						var err error
						if version, err = s.post(t.Context(), at, fmt.Sprint("message ", version)); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			all := func() error {
				return errors.Join(events.isAt(early, 1), events.isAt(key, version), events.isAt(other, version))
			}
			for range 2 { // killed in the middle of its work
				post(15)
				testenv.Eventually(t, soon, func() error {
					if err := events.read(); err != nil {
						return err
					}
					if events.seen[key.String()] <= version-15 {
						return errors.New("nothing was published between two kills")
					}
					return nil
				})
				p.kill()
				post(5)
				p = s.start(t)
			}
			testenv.Eventually(t, soon, all)

			broker.stop()
			post(5)
			// The rows must not wait for the broker.
			testenv.Eventually(t, soon, func() error { return s.isAt(t.Context(), key, version) })
			testenv.Eventually(t, soon, func() error {
				status, found, err := p.health()
				if err == nil && (status != 200 || !slices.ContainsFunc(found.Warnings, func(w string) bool { return strings.Contains(w, "broker") })) {
					err = fmt.Errorf("%d %+v", status, found)
				}
				return err
			})
			_, measured, err := p.get("/metrics")
			if err != nil || metric(t, measured, "publisher_outage") != 1 {
				t.Errorf("the outage is not in the metrics, %v", err)
			}
			broker.start(t, small)
			testenv.Eventually(t, soon, all)

			refused := s.create(t)
			if _, err := s.post(t.Context(), refused, strings.Repeat("x", small)); err != nil {
				t.Fatal(err)
			}
			if _, err := s.post(t.Context(), refused, "after it"); err != nil {
				t.Fatal(err)
			}
			post(1)
			testenv.Eventually(t, soon, func() error { return errors.Join(all(), events.isAt(refused, 1)) })
			var letter projection.DeadLetter
			testenv.Eventually(t, soon, func() error {
				letters, err := rowstore.Letters(t.Context(), s.db, 100)
				if err == nil && len(letters) != 1 {
					err = fmt.Errorf("%d dead letters", len(letters))
				}
				if err == nil {
					letter = letters[0]
				}
				return err
			})
			if letter.Projection != publishing.Projection || letter.Key != refused || letter.SeqNr != 2 || !strings.Contains(letter.Reason, "refuses") {
				t.Errorf("the dead letter is %+v", letter)
			}
			testenv.Eventually(t, soon, func() error { return s.isAt(t.Context(), refused, 3) }) // the rows have it
			broker.stop()
			broker.start(t, 1<<20) // it accepts larger events now
			publisher, err := rowstore.New(s.db, publishing.Projection)
			if err != nil {
				t.Fatal(err)
			}
			if err := publisher.Retry(t.Context(), refused, time.Now()); err != nil { // as an operator does
				t.Fatal(err)
			}
			testenv.Eventually(t, soon, func() error { return errors.Join(events.isAt(refused, 3), all()) })
		})
	}
}
