package updater

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/domain/account"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/extras/publishing"
	"example.com/threads/extras/publishing/publisher"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/metrics"
	"example.com/threads/interfaceadaptor/accountcodec"
	"example.com/threads/interfaceadaptor/taskcodec"
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
		published(taskcodec.Events()),
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
	followed
	publisher *publishing.Publisher
	broker    *publisher.Broker
}

// newPublication returns nil if nothing is published.
func (f *journalFollower) newPublication(databases Databases, term uint64, registry prometheus.Registerer) (*publication, error) {
	settings := f.settings.Publishing
	if settings.URL == "" {
		return nil, nil
	}
	store, err := rowstore.New(databases.ReadModel, Publisher)
	if err != nil {
		return nil, err
	}
	store = store.InTerm(term)
	broker, err := publisher.Open(settings.URL, settings.Topic)
	if err != nil {
		return nil, fmt.Errorf("PUBLISH_URL: %w", err)
	}
	p := &publication{broker: broker, publisher: publishing.New(store, publishing.Opened(broker, databases.Keys, erasedBy))}
	var handlers []projection.Handler
	for _, each := range publishedTypes() {
		handlers = append(handlers, p.publisher.Handler(each.name, each.decode))
	}
	registry = prometheus.WrapRegistererWithPrefix("publisher_", registry)
	metrics.Total(registry, "events_published_total", "Events that the broker has accepted, repeats included.", &p.publisher.Published)
	metrics.Total(registry, "events_refused_total", "Times that the broker refused an event, which parks its aggregate.", &p.publisher.Refused)
	metrics.Total(registry, "events_failed_total", "Times that the broker did not accept an event that it may accept later.", &p.publisher.Failures)
	p.followed, err = f.beside(databases, Publisher, p.publisher, store, registry, projection.Options{
		Logger:        f.ports.Log.With("projection", Publisher),
		RepairWorkers: 1, // events are handed over by one change at a time
		Attempts:      3, // per batch; the source continues with longer pauses
	}, handlers...)
	if err != nil {
		_ = broker.Close() // nothing was published
	}
	return p, err
}

// run works until ctx ends, and the events that the broker has accepted by then are stored as published.
func (p *publication) run(ctx context.Context) error {
	defer context.AfterFunc(ctx, p.publisher.Stop)()
	p.followed.run(ctx)
	return p.broker.Close()
}

// check returns warnings for operators. A broker that is down does not make the updater unready, because the read model
// does not need it.
func (p *publication) check(ctx context.Context) (warnings []string, err error) {
	parked, err := p.store.CountParked(ctx)
	if err != nil {
		return nil, err
	}
	if parked > 0 {
		warnings = append(warnings, fmt.Sprintf("publishing of %d aggregates is parked: the broker refused an event; "+
			"`threadctl dead-letters list` says why", parked))
	}
	if outage := p.publisher.Outage(); outage != nil {
		warnings = append(warnings, fmt.Sprintf("the broker of PUBLISH_URL does not accept events (%v); they are published once it does, "+
			"%.0f seconds behind now", outage, p.lag(ctx).Behind.Seconds()))
	}
	return warnings, nil
}
