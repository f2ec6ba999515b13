package publishing

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

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
	kind  *Kind    // nil: nothing is published
	at    *url.URL // secret
}

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
