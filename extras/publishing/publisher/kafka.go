package publisher

import (
	"errors"
	"net/url"
	"strings"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

// openKafka publishes to all in-sync replicas. The idempotent producer is off: it never gives a record up whose fate it
// does not know, so an outage would not show. Events of one aggregate are handed over one by one, which keeps their
// order; repeats are a subscriber's to drop, as everywhere.
func openKafka(at *url.URL, topic string) (*Broker, error) {
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
		if err := p.client.ProduceSync(m.Context(), record).FirstErr(); err != nil {
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
