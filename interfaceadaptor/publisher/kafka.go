package publisher

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

// openKafka publishes with an idempotent producer; the broker's in-sync replicas have each event before Publish returns.
func openKafka(at *url.URL, topic string) (*Broker, error) {
	options := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(at.Host, ",")...), kgo.ClientID("read-model-updater"), kgo.AllowAutoTopicCreation(),
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.RecordDeliveryTimeout(answerWithin), kgo.ProducerLinger(0),
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
		return nil, err
	}
	return &Broker{publisher: produced{client}, refuses: refusedByKafka}, nil
}

// produced is a Watermill publisher on franz-go.
type produced struct{ client *kgo.Client }

func (p produced) Publish(topic string, messages ...*message.Message) error {
	for _, m := range messages {
		record := &kgo.Record{
			Topic: topic, Key: []byte(m.Metadata.Get(headerKey)), Value: m.Payload,
			Headers: []kgo.RecordHeader{{Key: headerContentType, Value: []byte(m.Metadata.Get(headerContentType))}},
		}
		// A record that is given up while its answer is awaited could still arrive after its repeat: so the context does
		// not end the wait, and RecordDeliveryTimeout does.
		if err := p.client.ProduceSync(context.WithoutCancel(m.Context()), record).FirstErr(); err != nil {
			return err
		}
	}
	return nil
}

func (p produced) Close() error {
	p.client.Close()
	return nil
}

func refusedByKafka(err error) bool {
	for _, refusal := range []error{kerr.MessageTooLarge, kerr.RecordListTooLarge, kerr.InvalidRecord, kerr.InvalidTimestamp} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}
