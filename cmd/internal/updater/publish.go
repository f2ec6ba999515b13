package updater

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/domain/account"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/run"
	"example.com/threads/es/stream"
	"example.com/threads/extras/publishing"
	"example.com/threads/extras/publishing/publisher"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/metrics"
	"example.com/threads/interfaceadaptor/accountcodec"
	"example.com/threads/interfaceadaptor/tenantcodec"
	"example.com/threads/interfaceadaptor/threadcodec"
)

// Publisher is the name of the projection that publishes events.
const Publisher = "publisher"

// Publishing says where events are published.
type Publishing struct {
	URL   string // secret; empty: nothing is published
	Topic string
}

// ReadPublishing reads where events are published.
func ReadPublishing(r *config.Reader) Publishing {
	check := func(value string) error {
		if value == "" {
			return nil
		}
		return publisher.Check(value)
	}
	return Publishing{
		URL: r.Secret("PUBLISH_URL", "broker that every event is published to: "+publisher.Expected+"; without it nothing is published", check),
		Topic: config.Parsed(r, "PUBLISH_TOPIC", "threads.events", "with PUBLISH_URL: NATS subject or Kafka topic; a webhook has none",
			publisher.ParseTopic),
	}
}

// publishedTypes are all aggregate types of this application. docs/asyncapi.yaml describes their events.
func publishedTypes() []publishedType {
	return []publishedType{
		published(threadcodec.Events()),
		published(accountcodec.Events()),
		published(task.Events()),
		published(tenantcodec.Events()),
	}
}

// publishedType is an aggregate type whose events are published.
type publishedType struct {
	name   string
	decode publishing.Decode
}

func published[E any](codec *es.Codec[E]) publishedType {
	return publishedType{codec.Type(), publisher.Decode(codec)}
}

// erasedBy returns the account that an event erases; empty: none.
func erasedBy(event publishing.Event) (owner string) {
	if event.AggregateType == account.AggregateType && event.Event.Type == accountErased {
		return event.AggregateID
	}
	return ""
}

var accountErased = accountcodec.Events().EventType(account.Erased{})

// publication publishes events.
type publication struct {
	*run.Followed
	store     *rowstore.Store
	publisher *publishing.Publisher
	broker    *publisher.Broker
	log       *slog.Logger
}

func (p program) newPublication(turn *run.Turn) (run.Consumer, error) {
	if p.settings.Publishing.URL == "" {
		return unpublished{}, nil
	}
	store, err := turn.Store(Publisher)
	if err != nil {
		return nil, err
	}
	broker, err := publisher.Open(p.settings.Publishing.URL, p.settings.Publishing.Topic)
	if err != nil {
		return nil, fmt.Errorf("PUBLISH_URL: %w", err)
	}
	published := &publication{
		store: store, broker: broker, publisher: publishing.New(store, publishing.Opened(broker, p.databases.Keys, erasedBy)), log: p.ports.Log,
	}
	var handlers []projection.Handler
	for _, each := range publishedTypes() {
		handlers = append(handlers, published.publisher.Handler(each.name, each.decode))
	}
	registry := prometheus.WrapRegistererWithPrefix("publisher_", turn.Registry())
	metrics.Total(registry, "events_published_total", "Events that the broker has accepted, repeats included.", &published.publisher.Published)
	metrics.Total(registry, "events_refused_total", "Times that the broker refused an event, which parks its aggregate.", &published.publisher.Refused)
	metrics.Total(registry, "events_failed_total", "Times that the broker did not accept an event that it may accept later.", &published.publisher.Failures)
	published.Followed, err = turn.Follow(Publisher, published.publisher, store, registry, projection.Options{
		Logger:        p.ports.Log.With("projection", Publisher),
		RepairWorkers: 1, // events are handed over by one change at a time
		Attempts:      3, // per batch; the source continues with longer pauses
	}, handlers...)
	if err != nil {
		_ = broker.Close() // nothing was published
		return nil, err
	}
	turn.OnWake(published.Wake)
	return published, nil
}

// Run works until ctx ends, and the events that the broker has accepted by then are stored as published.
func (p *publication) Run(ctx context.Context) {
	defer context.AfterFunc(ctx, p.publisher.Stop)()
	p.Followed.Run(ctx)
	if err := p.broker.Close(); err != nil {
		p.log.WarnContext(ctx, "the connection to the broker could not be closed cleanly", "error", err)
	}
}

// Check implements [run.Consumer]. A broker that is down does not make the updater unready, because the read model does
// not need it.
func (p *publication) Check(ctx context.Context) (found run.Status, err error) {
	lag, outage := p.Lag(ctx), p.publisher.Outage()
	parked, err := p.store.CountParked(ctx)
	found.Gauges = publishedGauges(lag, outage != nil, parked)
	if err != nil {
		return found, err
	}
	if parked > 0 {
		found.Warnings = append(found.Warnings, fmt.Sprintf("publishing of %d aggregates is parked: the broker refused an event; %s", parked, advice.Parked))
	}
	if outage != nil {
		found.Warnings = append(found.Warnings, fmt.Sprintf("the broker of PUBLISH_URL does not accept events (%v); they are published once it does, "+
			"%.0f seconds behind now", outage, lag.Behind.Seconds()))
	}
	return found, nil
}

func publishedGauges(lag stream.Lag, outage bool, parked int) []run.Gauge {
	down := 0.0
	if outage {
		down = 1
	}
	return []run.Gauge{
		{Name: "publisher_lag_seconds", Help: "Age of the oldest event that is not published; 0 when there is none.", Value: lag.Behind.Seconds()},
		{Name: "publisher_lag_records", Help: "Known events that are not published.", Value: float64(lag.Records)},
		{Name: "publisher_outage", Help: "1 while the broker does not accept events, or has not answered for two seconds.", Value: down},
		{Name: "publisher_parked_aggregates", Help: "Aggregates whose next event the broker has refused.", Value: float64(parked)},
	}
}

// unpublished is used without a broker. Its metrics are there for alerts that name them.
type unpublished struct{}

func (unpublished) Run(context.Context) {}

func (unpublished) Check(context.Context) (run.Status, error) {
	return run.Status{Gauges: publishedGauges(stream.Lag{}, false, 0)}, nil
}
