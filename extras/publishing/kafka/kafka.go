// Package kafka publishes to Kafka.
package kafka

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"example.com/threads/extras/publishing"
)

// Kind is Kafka.
var Kind = &publishing.Kind{
	Schemes: []string{"kafka", "kafkas"},
	URLs:    "kafka:// or, over TLS, kafkas:// (Kafka; several hosts are separated by commas)",
	Open:    open,
}

const answerWithin = 5 * time.Second

// open publishes to all in-sync replicas. The idempotent producer is off: it never gives a record up whose fate it
// does not know, so an outage would not show. Events of one aggregate are handed over one by one, which keeps their
// order; repeats are a subscriber's to drop, as everywhere.
func open(at *url.URL, topic string) (send func(context.Context, publishing.Message) error, end func(), err error) {
	options := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(at.Host, ",")...), kgo.ClientID("read-model-updater"), kgo.AllowAutoTopicCreation(),
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.DisableIdempotentWrite(), kgo.RecordDeliveryTimeout(answerWithin), kgo.ProducerLinger(0),
	}
	if at.Scheme == "kafkas" {
		options = append(options, kgo.DialTLS())
	}
	if at.User != nil {
		password, _ := at.User.Password()
		options = append(options, kgo.SASL(plain.Auth{User: at.User.Username(), Pass: password}.AsMechanism()))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, m publishing.Message) error {
		return answer(client.ProduceSync(ctx, &kgo.Record{
			Topic: topic, Key: []byte(m.Key), Value: m.Body,
			Headers: []kgo.RecordHeader{{Key: "content-type", Value: []byte(publishing.ContentType)}},
		}).FirstErr())
	}, client.Close, nil
}

// answer returns a refusal if Kafka blames the event, and otherwise an outage.
func answer(err error) error {
	var said *kerr.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, kerr.MessageTooLarge), errors.Is(err, kerr.RecordListTooLarge), errors.Is(err, kerr.InvalidRecord), errors.Is(err, kerr.InvalidTimestamp):
		errors.As(err, &said)
		return publishing.Refused(errors.New("Kafka answered " + said.Message)) // a constant of the client
	case errors.As(err, &said):
		return errors.New("Kafka answered " + said.Message)
	case errors.Is(err, kgo.ErrRecordTimeout):
		return errors.New("no answer in time")
	}
	return publishing.Cause(err)
}
