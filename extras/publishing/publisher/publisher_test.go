package publisher_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/oklog/ulid/v2"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"example.com/threads/es"
	"example.com/threads/es/testenv"
	"example.com/threads/extras/publishing"
	"example.com/threads/extras/publishing/publisher"
)

const topic = "threads.events"

// happened returns an event whose data has about size bytes.
func happened(seqNr uint64, size int) publishing.Event {
	e := publishing.Event{Envelope: es.Envelope{
		EventID: ulid.Make().String(), AggregateType: "thread", AggregateID: ulid.Make().String(), SeqNr: seqNr,
		OccurredAt: time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC),
		Caller:     es.Caller{CorrelationID: "a talk", CausationID: "a cause"},
	}}
	e.Event.Type, e.Event.Data = "ThreadRenamed", fmt.Appendf(nil, `{"name":%q}`, strings.Repeat("x", size))
	return e
}

// got is what a subscriber receives for an event.
type got struct {
	key, contentType string
	body             []byte
}

// wanted returns the events' CloudEvents.
func wanted(t *testing.T, events []publishing.Event) (bodies []string) {
	t.Helper()
	for _, event := range events {
		body, err := publisher.Encode(event)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, string(body))
	}
	return bodies
}

func open(t *testing.T, url string) *publisher.Broker {
	t.Helper()
	broker, err := publisher.Open(url, topic)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = broker.Close() })
	return broker
}

// publishes publishes events and compares them with what arrives.
func publishes(t *testing.T, broker *publisher.Broker, arrived func() []got) {
	t.Helper()
	var events []publishing.Event
	for seqNr := range uint64(5) {
		events = append(events, happened(seqNr+1, 10))
		if err := broker.Publish(t.Context(), events[seqNr]); err != nil {
			t.Fatal(err)
		}
	}
	var bodies []string
	for i, one := range arrived() {
		bodies = append(bodies, string(one.body))
		if one.contentType != "application/cloudevents+json" || one.key != "" && one.key != events[i].Aggregate().String() {
			t.Errorf("key %q, content type %q", one.key, one.contentType)
		}
	}
	if want := wanted(t, events); !slices.Equal(bodies, want) {
		t.Errorf("a subscriber got %q\nwant %q", bodies, want)
	}
}

// refuses publishes an event that the broker must refuse.
func refuses(t *testing.T, broker *publisher.Broker, event publishing.Event) {
	t.Helper()
	err := broker.Publish(t.Context(), event)
	if refused := (*publishing.RefusedError)(nil); !errors.As(err, &refused) {
		t.Errorf("got %v, want a refusal", err)
	}
	if err := broker.Publish(t.Context(), happened(1, 10)); err != nil {
		t.Errorf("the next event: %v", err)
	}
}

// fails publishes an event while the broker is down.
func fails(t *testing.T, broker *publisher.Broker) error {
	t.Helper()
	err := broker.Publish(t.Context(), happened(1, 10))
	if refused := (*publishing.RefusedError)(nil); err == nil || errors.As(err, &refused) {
		t.Errorf("got %v, want an outage", err)
	}
	return err
}

func runNATS(t *testing.T, folder string, port int) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: folder, NoLog: true, NoSigs: true, MaxPayload: 1 << 20, Authorization: "t0psecret",
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the NATS server is not ready")
	}
	return s
}

func TestNATS(t *testing.T) {
	folder := t.TempDir()
	s := runNATS(t, folder, server.RANDOM_PORT)
	port := s.Addr().(*net.TCPAddr).Port
	url := fmt.Sprintf("nats://t0psecret@127.0.0.1:%d", port)
	broker := open(t, url)
	publishes(t, broker, func() (arrived []got) {
		conn, err := nats.Connect(url)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		js, err := conn.JetStream()
		if err != nil {
			t.Fatal(err)
		}
		subscription, err := js.SubscribeSync(topic, nats.DeliverAll())
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			m, err := subscription.NextMsg(20 * time.Second)
			if err != nil {
				t.Fatal(err)
			}
			arrived = append(arrived, got{m.Header.Get("partitionkey"), m.Header.Get("content-type"), m.Data})
		}
		return arrived
	})
	refuses(t, broker, happened(1, 2<<20))

	s.Shutdown()
	s.WaitForShutdown()
	if err := fails(t, broker); err != nil && strings.Contains(err.Error(), "t0psecret") {
		t.Errorf("the error contains the token: %v", err)
	}
	again := runNATS(t, folder, port)
	defer again.Shutdown()
	testenv.Eventually(t, 30*time.Second, func() error { return broker.Publish(t.Context(), happened(1, 10)) })
}

func TestKafka(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.SeedTopics(3, topic), kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	broker := open(t, "kafka://"+strings.Join(cluster.ListenAddrs(), ","))
	publishes(t, broker, func() (arrived []got) {
		client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ConsumeTopics(topic))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		for len(arrived) < 5 && ctx.Err() == nil {
			client.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
				arrived = append(arrived, got{string(r.Key), string(r.Headers[0].Value), r.Value})
			})
		}
		// They come from several partitions, so sort them.
		slices.SortFunc(arrived, func(a, b got) int { return cmp.Compare(seqNrOf(t, a.body), seqNrOf(t, b.body)) })
		return arrived
	})
	refuses(t, broker, happened(1, 2<<20))
	cluster.Close()
	_ = fails(t, broker)
}

func seqNrOf(t *testing.T, body []byte) int {
	t.Helper()
	var event struct {
		SeqNr int `json:"seqnr"`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		t.Error(err)
	}
	return event.SeqNr
}

func TestWebhook(t *testing.T) {
	var mu sync.Mutex
	var arrived []got
	status, header := http.StatusNoContent, http.Header{}
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		if user, password, _ := r.BasicAuth(); user != "ada" || password != "t0psecret" || r.URL.RawQuery != "token=t0psecret" {
			status = http.StatusUnauthorized
		}
		if status == http.StatusNoContent {
			arrived = append(arrived, got{"", r.Header.Get("Content-Type"), body})
		}
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
	}))
	defer hook.Close()
	broker := open(t, strings.Replace(hook.URL, "http://", "http://ada:t0psecret@", 1)+"/hooks?token=t0psecret")
	publishes(t, broker, func() []got { return arrived })

	answer := func(code int, retryAfter string) error {
		mu.Lock()
		status, header = code, http.Header{"Retry-After": {retryAfter}}
		mu.Unlock()
		return broker.Publish(t.Context(), happened(1, 10))
	}
	for _, code := range []int{400, 404, 410, 413, 422} {
		if refused := (*publishing.RefusedError)(nil); !errors.As(answer(code, ""), &refused) {
			t.Errorf("the status %d is not a refusal", code)
		}
	}
	for _, code := range []int{302, 408, 425, 429, 500, 503} {
		err := answer(code, "7")
		refused, busy := (*publishing.RefusedError)(nil), (*publishing.BusyError)(nil)
		if errors.As(err, &refused) || !errors.As(err, &busy) || busy.After != 7*time.Second {
			t.Errorf("%d: %v", code, err)
		}
		if strings.Contains(err.Error(), "t0psecret") {
			t.Errorf("the error contains the password: %v", err)
		}
	}
	if busy := (*publishing.BusyError)(nil); !errors.As(answer(503, time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)), &busy) || busy.After < 50*time.Minute {
		t.Errorf("a date in Retry-After is not read: %v", busy)
	}
	hook.Close()
	if err := fails(t, broker); err != nil && strings.Contains(err.Error(), "t0psecret") {
		t.Errorf("the error contains the password: %v", err)
	}
}

const words = "Rhubarbwords"

// says is a webhook that answers every request with these bytes.
func says(t *testing.T, answer string) *publisher.Broker {
	t.Helper()
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, answer)
		_ = conn.Close()
	}))
	t.Cleanup(hook.Close)
	return open(t, hook.URL)
}

// jetStreamSays is a NATS server on which a client answers in the place of JetStream.
func jetStreamSays(t *testing.T, subject, answer string) *publisher.Broker {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(20 * time.Second) {
		t.Fatal("the NATS server is not ready")
	}
	conn, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	if _, err := conn.Subscribe(subject, func(m *nats.Msg) { _ = m.Respond([]byte(answer)) }); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	return open(t, s.ClientURL())
}

// What a broker says may be what it was sent: it is neither logged nor stored, as a person may be erased later.
func TestWhatABrokerSaysIsNotTold(t *testing.T) {
	for answer, want := range map[string]string{
		"HTTP/1.1 422 " + words + "\r\nContent-Length: 12\r\n\r\n" + words: "the webhook answered 422 Unprocessable Entity",
		"HTTP/1.1 503 No\r\nX: " + words + "\r\nContent-Length: 0\r\n\r\n": "the webhook answered 503 Service Unavailable",
		"HTTP/1.1 307 No\r\nLocation: http://" + words + "\r\n\r\n":        "the webhook answered 307 Temporary Redirect",
		words + "\r\n\r\n":                                                    "no valid answer",
		"HTTP/1.1 " + words + "\r\n\r\n":                                      "no valid answer",
		"HTTP/1.1 200 OK\r\n" + words + "\r\n\r\n":                            "no valid answer",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: " + words + "\r\n\r\n" + words: "no valid answer",
	} {
		err := says(t, answer).Publish(t.Context(), happened(1, 10))
		if err == nil || strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", answer, err)
		}
	}
	for subject, answer := range map[string]string{
		"$JS.API.STREAM.NAMES": `{"error":{"code":500,"err_code":10999,"description":"` + words + `"}}`,
		"$JS.API.>":            `{"error":{"code":400,"err_code":10054,"description":"` + words + `"}}`,
		">":                    words,
	} {
		err := jetStreamSays(t, subject, answer).Publish(t.Context(), happened(1, 10))
		if err == nil || strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

func TestURLsThatNameNoBroker(t *testing.T) {
	for _, url := range []string{"amqp://localhost", "nats://", "localhost:4222", "kafka:", "http://[::1", "https://u:t0psecret@"} {
		if err := publisher.Check(url); err == nil || strings.Contains(err.Error(), "t0psecret") {
			t.Errorf("%q: %v", url, err)
		}
	}
	for _, topic := range []string{"", "a b", "a..b", ".a", "a.*", "a.>"} {
		if _, err := publisher.ParseTopic(topic); err == nil {
			t.Errorf("%q was accepted as a topic", topic)
		}
	}
}

// The attributes are those that subscribers were promised.
func TestCloudEvent(t *testing.T) {
	for _, tenant := range []string{"", "acme"} {
		event := happened(7, 3)
		event.Tenant = testTenant(t, tenant)
		body, err := publisher.Encode(event)
		if err != nil {
			t.Fatal(err)
		}
		aid := event.Aggregate().String()
		var found map[string]any
		if err := json.Unmarshal(body, &found); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"specversion": "1.0", "id": event.EventID, "source": "/" + tenant + "/" + aid, "type": "ThreadRenamed", "time": "2026-01-02T03:04:05.678901Z",
			"subject": aid, "partitionkey": aid, "seqnr": 7.0, "correlationid": "a talk", "causationid": "a cause",
			"datacontenttype": "application/json", "data": map[string]any{"name": "xxx"},
		}
		if diff := gocmp.Diff(want, found); diff != "" {
			t.Error(diff)
		}
	}
}

func testTenant(t *testing.T, code string) es.Tenant {
	t.Helper()
	tenant, err := es.ParseTenant(code)
	if err != nil {
		t.Fatal(err)
	}
	return tenant
}
