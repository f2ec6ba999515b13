package publisher

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"

	"github.com/ThreeDotsLabs/watermill/message"

	"example.com/threads/extras/publishing"
)

// Expected is what [Check] accepts.
const Expected = "nats://, tls:// (NATS), kafka://, kafkas:// (Kafka over TLS), http:// or https:// (a webhook), with a host; several NATS or " +
	"Kafka hosts are separated by commas; user:password@ where the broker asks for it"

// Check rejects a URL that names no broker. Its errors do not contain the URL.
func Check(text string) error {
	at, err := url.Parse(text)
	if err != nil || at.Host == "" || openers[at.Scheme] == nil {
		return fmt.Errorf("expected %s", Expected)
	}
	return nil
}

var openers = map[string]func(*url.URL, string) (*Broker, error){
	"nats": openNATS, "tls": openNATS, "kafka": openKafka, "kafkas": openKafka, "http": openWebhook, "https": openWebhook,
}

// Open returns the broker of a URL. It does not wait for the broker: one that is not there is an outage of Publish.
// Close it in the end.
func Open(text, topic string) (*Broker, error) {
	if err := Check(text); err != nil {
		return nil, err
	}
	at, _ := url.Parse(text) // Check has parsed it
	broker, err := openers[at.Scheme](at, topic)
	if err != nil { // its text may contain the URL
		return nil, fmt.Errorf("the client of the broker takes something of it for wrong (%T); expected %s", err, Expected)
	}
	broker.topic = topic
	return broker, nil
}

// Broker is a [publishing.Broker] on a Watermill publisher. Publish returns when the broker has answered for the one
// event that it was given, so events of one aggregate never overtake each other.
type Broker struct {
	publisher message.Publisher
	refuses   func(error) bool // the error is an answer to this event, and would be the same again
	topic     string
}

// Names of the headers beside the payload. Kafka's key is the partition key.
const (
	headerContentType = "content-type"
	headerKey         = "partitionkey"
)

// Publish implements [publishing.Broker].
func (b *Broker) Publish(ctx context.Context, event publishing.Event) error {
	payload, err := Encode(event)
	if err != nil {
		return &publishing.RefusedError{Cause: err}
	}
	m := message.NewMessage(event.EventID, payload)
	m.SetContext(ctx)
	m.Metadata.Set(headerContentType, ContentType)
	m.Metadata.Set(headerKey, event.Aggregate().String())
	err = b.publisher.Publish(b.topic, m)
	if err == nil {
		return nil
	}
	why := errors.New(cause(err))
	var answer *statusError
	switch {
	case b.refuses(err):
		return &publishing.RefusedError{Cause: why}
	case errors.As(err, &answer) && answer.after > 0:
		return &publishing.BusyError{Cause: why, After: answer.after}
	}
	return why
}

// Close ends the connection.
func (b *Broker) Close() error { return b.publisher.Close() }

var topics = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// ParseTopic checks a topic, which must suit every broker.
func ParseTopic(text string) (string, error) {
	if len(text) > 200 || !topics.MatchString(text) {
		return "", fmt.Errorf("%q is no topic: expected letters, digits, - and _, in parts separated by dots, at most 200", text)
	}
	return text, nil
}
