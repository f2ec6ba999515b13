package publishing

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/run"
)

// Projection is the name of the projection that publishes events.
const Projection = "publisher"

// Events are what a program publishes.
type Events struct {
	Types []es.AnyAggregate
	// Around, unless nil, wraps what publishes them.
	Around func(Publish) Publish
}

// publication publishes events.
type publication struct {
	*run.Followed
	store     *rowstore.Store
	publisher *Publisher
	end       func() // of the connection to the broker
	parked    string // how to list the dead letters
}

// Consumer returns what publishes events.
func Consumer(s Settings, events Events, log *slog.Logger) func(*run.Turn) (run.Consumer, error) {
	return func(turn *run.Turn) (run.Consumer, error) {
		if s.kind == nil {
			return unpublished{}, nil
		}
		store, err := turn.Store(Projection)
		if err != nil {
			return nil, err
		}
		publish, end, err := s.kind.Connect(s.at, s.Topic)
		if err != nil {
			return nil, err
		}
		if events.Around != nil {
			publish = events.Around(publish)
		}
		var handlers []projection.Handler
		for _, each := range events.Types {
			handlers = append(handlers, Handler(each))
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
			Logger:   log.With("projection", Projection),
			Attempts: 3, // per batch; the source continues with longer pauses
		}, handlers...)
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

// Check implements [run.Consumer]. A broker that is down does not make the updater unready, because the read model does
// not need it.
func (p *publication) Check(ctx context.Context) (found run.Status, err error) {
	lag, outage := p.Lag(ctx), p.publisher.Outage()
	parked, err := p.store.CountParked(ctx)
	found.Gauges = gauges(lag, outage != nil, parked)
	if err != nil {
		return found, err
	}
	if parked > 0 {
		found.Warnings = append(found.Warnings, fmt.Sprintf("publishing of %d aggregates is parked: the broker refused an event; %s", parked, p.parked))
	}
	if outage != nil {
		found.Warnings = append(found.Warnings, fmt.Sprintf("the broker of PUBLISH_URL does not accept events (%v); they are published once it does, "+
			"%.0f seconds behind now", outage, lag.Behind.Seconds()))
	}
	return found, nil
}

func gauges(lag projection.Lag, outage bool, parked int) []run.Gauge {
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
	return run.Status{Gauges: gauges(projection.Lag{}, false, 0)}, nil
}
