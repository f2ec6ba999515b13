// Package nats publishes to NATS JetStream.
package nats

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"example.com/threads/extras/publishing"
)

// Kind is NATS JetStream.
var Kind = &publishing.Kind{
	Schemes: []string{"nats", "tls"},
	URLs:    "nats:// or tls:// (NATS; several hosts are separated by commas)",
	Open:    open,
}

const answerWithin = 5 * time.Second

func open(at *url.URL, topic string) (send func(context.Context, publishing.Message) error, end func(), err error) {
	conn, err := nats.Connect(servers(at),
		nats.IgnoreAuthErrorAbort(), // a server may have a wrong list of users for a while
		nats.Name("read-model-updater"), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(500*time.Millisecond),
		nats.ReconnectBufSize(-1), // nothing is kept for later: it would arrive after its repeat
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // the default prints what the server says
	)
	if err != nil {
		return nil, nil, err
	}
	js, err := conn.JetStream(nats.MaxWait(answerWithin))
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	return func(ctx context.Context, m publishing.Message) error { return answer(publish(ctx, js, topic, m)) }, conn.Close, nil
}

// servers returns the URL of each host, with the user or token, as the client wants them.
func servers(at *url.URL) string {
	var each []string
	for host := range strings.SplitSeq(at.Host, ",") {
		each = append(each, (&url.URL{Scheme: at.Scheme, User: at.User, Host: host}).String())
	}
	return strings.Join(each, ",")
}

// publish sends a message. Its id lets JetStream drop repeats within its window. If no stream takes the subject, it
// makes one in files, also if others do so at the same time. A stream's name can't have the dots of its subject.
func publish(ctx context.Context, js nats.JetStreamContext, topic string, message publishing.Message) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	m := nats.NewMsg(topic)
	m.Data = message.Body
	m.Header.Set("content-type", publishing.ContentType)
	m.Header.Set("partitionkey", message.Key)
	_, err := js.PublishMsg(m, nats.MsgId(message.ID), nats.Context(ctx))
	if errors.Is(err, nats.ErrNoStreamResponse) {
		_, err = js.AddStream(&nats.StreamConfig{
			Name: strings.ReplaceAll(topic, ".", "-"), Subjects: []string{topic}, Storage: nats.FileStorage,
		}, nats.Context(ctx))
		if err == nil {
			_, err = js.PublishMsg(m, nats.MsgId(message.ID), nats.Context(ctx))
		}
	}
	return err
}

// tooLargeForTheStream is JetStream's code for an event above the stream's limit.
const tooLargeForTheStream = 10054

// answer returns a refusal if the event is too large, and otherwise an outage.
func answer(err error) error {
	var said *nats.APIError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrMaxPayload):
		return publishing.Refused(errors.New("the event is larger than NATS accepts"))
	case errors.As(err, &said):
		code := fmt.Errorf("JetStream answered with its error code %d", said.ErrorCode)
		if said.ErrorCode == tooLargeForTheStream {
			return publishing.Refused(code)
		}
		return code
	case errors.Is(err, nats.ErrAuthorization):
		return errors.New("NATS refuses the user or token")
	case errors.Is(err, nats.ErrTimeout):
		return errors.New("no answer in time")
	case errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrDisconnected), errors.Is(err, nats.ErrConnectionClosed):
		return errors.New("there is no connection")
	}
	return publishing.Cause(err)
}
