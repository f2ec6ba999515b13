package publishing

import (
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
	// Open returns a broker, and does not wait for it: one that is not there is an outage of Publish. The text of an
	// error may contain the URL.
	Open func(at *url.URL, topic string) (Broker, error)
}

// Settings are read from the environment.
type Settings struct {
	URL   string // secret; empty: nothing is published
	Topic string
	Kinds []*Kind
}

// ReadSettings reads where events are published, for a program with these kinds of brokers.
func ReadSettings(r *config.Reader, kinds ...*Kind) Settings {
	r = r.Group("Publishing (extras/publishing)")
	s := Settings{Kinds: kinds}
	s.URL = r.Secret("PUBLISH_URL", "broker that every event is published to: "+s.expected()+"; without it nothing is published", func(text string) error {
		if text == "" {
			return nil
		}
		_, _, err := s.kind(text)
		return err
	})
	s.Topic = config.Parsed(r, "PUBLISH_TOPIC", "threads.events", "with PUBLISH_URL: NATS subject or Kafka topic; a webhook has none", ParseTopic)
	return s
}

func (s Settings) expected() string {
	var urls []string
	for _, kind := range s.Kinds {
		urls = append(urls, kind.URLs)
	}
	return strings.Join(urls, ", ") + "; user:password@ where the broker asks for it. read-model-updater has every kind of broker, standalone webhooks alone"
}

// kind returns the kind of broker that a URL names. Its errors do not contain the URL.
func (s Settings) kind(text string) (*Kind, *url.URL, error) {
	at, err := url.Parse(text)
	if err != nil || at.Host == "" {
		return nil, nil, fmt.Errorf("expected %s", s.expected())
	}
	for _, kind := range s.Kinds {
		if slices.Contains(kind.Schemes, at.Scheme) {
			return kind, at, nil
		}
	}
	return nil, nil, fmt.Errorf("expected %s", s.expected())
}

// open returns the broker of the URL.
func (s Settings) open() (Broker, error) {
	kind, at, err := s.kind(s.URL)
	if err != nil {
		return nil, fmt.Errorf("PUBLISH_URL: %w", err)
	}
	broker, err := kind.Open(at, s.Topic)
	if err != nil { // its text may contain the URL
		return nil, fmt.Errorf("PUBLISH_URL: the client of the broker can't use it (%T): expected %s", err, s.expected())
	}
	return broker, nil
}

var topics = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$`)

// ParseTopic checks a topic, which must suit every broker.
func ParseTopic(text string) (string, error) {
	if len(text) > 200 || !topics.MatchString(text) {
		return "", fmt.Errorf("%q is no topic: expected letters, digits, - and _, in parts separated by dots, at most 200", text)
	}
	return text, nil
}
