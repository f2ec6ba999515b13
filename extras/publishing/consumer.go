package publishing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/run"
	"example.com/threads/infrastructure/config"
)

// Kind is a kind of broker. A program links a broker's client by naming its kind to [ReadSettings].
type Kind struct {
	Schemes []string // of the broker's URLs
	URLs    string   // the same for people
	// Open returns what sends a message to a broker, as [Publish] says, and what ends the connection. It does not wait
	// for the broker: one that is not there is an outage. The text of an error may contain the URL.
	Open func(at *url.URL, topic string) (send func(context.Context, Message) error, end func(), err error)
}

// Settings are read from the environment.
type Settings struct {
	Topic string
	// Around, unless nil, wraps what publishes. The program sets it.
	Around func(Publish) Publish

	kind *Kind    // nil: nothing is published
	at   *url.URL // secret
}

// On reports whether events are published.
func (s Settings) On() bool { return s.kind != nil }

// ReadSettings reads where events are published, for a program with these kinds of brokers.
func ReadSettings(r *config.Reader, kinds ...*Kind) (s Settings) {
	r = r.Group("Publishing (extras/publishing)")
	var urls []string
	for _, kind := range kinds {
		urls = append(urls, kind.URLs)
	}
	r.Secret("PUBLISH_URL", "broker that every event is published to: "+strings.Join(urls, ", ")+"; user:password@ where the broker asks for it. "+
		"read-model-updater has every kind of broker, standalone webhooks alone; without it nothing is published", func(text string) error {
		if text == "" {
			return nil
		}
		at, err := url.Parse(text)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(kinds, func(kind *Kind) bool { return slices.Contains(kind.Schemes, at.Scheme) })
		if i < 0 || at.Host == "" {
			return errors.New("no URL of a broker")
		}
		s.kind, s.at = kinds[i], at
		return nil
	})
	s.Topic = config.Parsed(r, "PUBLISH_TOPIC", "threads.events", "with PUBLISH_URL: NATS subject or Kafka topic; a webhook has none", ParseTopic)
	return s
}

// Connect returns what publishes to the broker of a URL, and what ends the connection.
func (k *Kind) Connect(at *url.URL, topic string) (publish Publish, end func(), err error) {
	send, end, err := k.Open(at, topic)
	if err != nil { // its text may contain the URL
		return nil, nil, fmt.Errorf("PUBLISH_URL: the client of the broker can't use it (%T): expected %s", err, k.URLs)
	}
	return func(ctx context.Context, event Event) error {
		body, err := Encode(event)
		if err != nil {
			return err
		}
		return send(ctx, Message{event.EventID, event.Aggregate().String(), body})
	}, end, nil
}

var topics = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// ParseTopic checks a topic, which must suit every broker.
func ParseTopic(text string) (string, error) {
	if len(text) > 200 || !topics.MatchString(text) {
		return "", fmt.Errorf("%q is no topic: expected letters, digits, - and _, in parts separated by dots, at most 200", text)
	}
	return text, nil
}

// Projection is the name of the projection that publishes events.
const Projection = "publisher"

// Handlers returns the handlers of the projection that publishes the events of these types.
func Handlers(types []es.AnyAggregate) (all []projection.Handler) {
	for _, each := range types {
		all = append(all, Handler{each})
	}
	return all
}

// Open returns what publishes events, for settings that are [Settings.On], and what ends the connection.
func (s Settings) Open() (publish Publish, end func(), err error) {
	publish, end, err = s.kind.Connect(s.at, s.Topic)
	if err == nil && s.Around != nil {
		publish = s.Around(publish)
	}
	return publish, end, err
}

// Attempts are how often a batch is tried before the source pauses.
const Attempts = 3

// publication publishes events.
type publication struct {
	*run.Followed
	store     *rowstore.Store
	publisher *Publisher
	end       func() // of the connection to the broker
	parked    string // how to list the dead letters
}

// Consumer returns what publishes the events of these types, for settings that are [Settings.On].
func Consumer(s Settings, types []es.AnyAggregate, log *slog.Logger) func(*run.Turn) (run.Consumer, error) {
	return func(turn *run.Turn) (run.Consumer, error) {
		store, err := turn.Store(Projection)
		if err != nil {
			return nil, err
		}
		publish, end, err := s.Open()
		if err != nil {
			return nil, err
		}
		p := &publication{store: store, publisher: New(store, publish), end: end, parked: turn.Advice.Parked}
		registry := prometheus.WrapRegistererWithPrefix("publisher_", turn.Registry)
		total := func(name, help string, of *atomic.Int64) {
			promauto.With(registry).NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(of.Load()) })
		}
		total("events_published_total", "Events that the broker has accepted, repeats included.", &p.publisher.Published)
		total("events_refused_total", "Times that the broker refused an event, which parks its aggregate.", &p.publisher.Refused)
		total("events_failed_total", "Times that the broker did not accept an event that it may accept later.", &p.publisher.Failures)
		p.Followed, err = turn.Follow(Projection, p.publisher, store, registry, projection.Options{
			Logger: log.With("projection", Projection), Attempts: Attempts,
		}, Handlers(types)...)
		if err != nil {
			end()
			return nil, err
		}
		return p, nil
	}
}

// Run works until ctx ends, and the events that the broker has accepted by then are stored as published.
func (p *publication) Run(ctx context.Context) {
	defer context.AfterFunc(ctx, p.publisher.Stop)()
	p.Followed.Run(ctx)
	p.end()
}

// Check implements [run.Consumer]. The updater is ready without a broker, which the read model does not need.
func (p *publication) Check(ctx context.Context) (found run.Status, err error) {
	lag, down := p.Lag(ctx), 0.0
	parked, err := p.store.CountParked(ctx)
	if parked > 0 {
		found.Warnings = append(found.Warnings, fmt.Sprintf("publishing of %d aggregates is parked: the broker refused an event; %s", parked, p.parked))
	}
	if outage := p.publisher.Outage(); outage != nil {
		down = 1
		found.Warnings = append(found.Warnings, fmt.Sprintf("the broker of PUBLISH_URL does not accept events (%v); they are published once it does, "+
			"%.0f seconds behind now", outage, lag.Behind.Seconds()))
	}
	found.Gauges = []run.Gauge{
		{Name: "publisher_lag_seconds", Help: "Age of the oldest event that is not published; 0 when there is none.", Value: lag.Behind.Seconds()},
		{Name: "publisher_lag_records", Help: "Known events that are not published.", Value: float64(lag.Records)},
		{Name: "publisher_outage", Help: "1 while the broker does not accept events, or does not answer.", Value: down},
		{Name: "publisher_parked_aggregates", Help: "Aggregates whose next event the broker has refused.", Value: float64(parked)},
	}
	return found, err
}
