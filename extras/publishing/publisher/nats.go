package publisher

import (
	"errors"
	"net/url"
	"strings"
	"sync"
	"time"

	watermillnats "github.com/ThreeDotsLabs/watermill-nats/v2/pkg/nats"
	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/nats-io/nats.go"
)

const (
	answerWithin = 5 * time.Second // for an answer of any broker
	reconnect    = 500 * time.Millisecond
)

// openNATS publishes to a JetStream stream, whose id for each event lets JetStream drop repeats within its window.
func openNATS(at *url.URL, topic string) (*Broker, error) {
	server := url.URL{Scheme: at.Scheme, User: at.User, Host: at.Host}
	conn, err := nats.Connect(server.String(),
		nats.Name("read-model-updater"), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(reconnect),
		nats.ReconnectBufSize(-1), // nothing is kept for later: it would arrive after its repeat
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // the default prints what the server says
	)
	if err != nil {
		return nil, err
	}
	wait := nats.MaxWait(answerWithin)
	publisher, err := watermillnats.NewPublisherWithNatsConn(conn, watermillnats.PublisherPublishConfig{
		Marshaler: &watermillnats.NATSMarshaler{}, SubjectCalculator: watermillnats.DefaultSubjectCalculator,
		JetStream: watermillnats.JetStreamConfig{TrackMsgId: true, ConnectOptions: []nats.JSOpt{wait}},
	}, nil)
	if err != nil {
		conn.Close()
		return nil, err
	}
	js, err := conn.JetStream(wait)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &Broker{publisher: &streamed{Publisher: publisher, js: js}, refuses: refusedByNATS}, nil
}

// streamed sees that there is a stream before the first event. Watermill's adapter would name the stream after the
// subject, whose dots no stream's name can have.
type streamed struct {
	message.Publisher
	js    nats.JetStreamContext
	mu    sync.Mutex
	there bool
}

func (s *streamed) Publish(topic string, messages ...*message.Message) error {
	if err := s.make(topic); err != nil {
		return err
	}
	return s.Publisher.Publish(topic, messages...)
}

// make makes a stream in files if none takes the subject.
func (s *streamed) make(topic string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.there {
		return nil
	}
	_, err := s.js.StreamNameBySubject(topic)
	if errors.Is(err, nats.ErrNoMatchingStream) {
		_, err = s.js.AddStream(&nats.StreamConfig{
			Name: strings.ReplaceAll(topic, ".", "-"), Subjects: []string{topic}, Storage: nats.FileStorage,
		})
	}
	s.there = err == nil
	return err
}

// refusedByNATS: the event is too large, or the stream says so with a code that blames the event.
func refusedByNATS(err error) bool {
	var answer *nats.APIError
	if errors.As(err, &answer) && answer.ErrorCode == tooLargeForTheStream {
		return true
	}
	return errors.Is(err, nats.ErrMaxPayload)
}

// tooLargeForTheStream is JetStream's code for an event above the stream's limit.
const tooLargeForTheStream = 10054
