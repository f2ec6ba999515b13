// Command subscriber is an example subscriber. It prints the events that the system publishes to NATS: each event once,
// and in order within its aggregate. After a restart it continues where it stopped, and may repeat the last event.
//
//	PUBLISH_URL=nats://127.0.0.1:4222 go run ./extras/publishing/examples/subscriber
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/nats-io/nats.go"

	"example.com/threads/es"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/program"
)

const about = `
An example: prints the events that the system publishes to NATS. After a restart it continues where it stopped. SIGINT
and SIGTERM end it.
`

func main() {
	printing := func(ctx context.Context, s settings, stdout io.Writer) error { return run(ctx, s, stdout, os.Stderr) }
	program.Main("subscriber", program.With("subscriber", about, readSettings, printing))
}

type settings struct{ url, topic string }

func readSettings(r *config.Reader) settings {
	return settings{
		url:   r.String("PUBLISH_URL", nats.DefaultURL, "the NATS server"),
		topic: r.String("PUBLISH_TOPIC", "threads.events", "the subject"),
	}
}

// run prints events until ctx ends. While NATS is down, it waits.
func run(ctx context.Context, s settings, out, log io.Writer) error {
	lost := func(_ *nats.Conn, err error) {
		if err != nil { // nil: it was closed
			fmt.Fprintln(log, "waiting for NATS:", err)
		}
	}
	conn, err := nats.Connect(s.url, nats.MaxReconnects(-1), nats.DisconnectErrHandler(lost))
	if err != nil {
		return fmt.Errorf("connect to PUBLISH_URL: %w", err)
	}
	defer conn.Close()
	stream, err := conn.JetStream()
	if err != nil {
		return err
	}
	// The durable consumer holds the subscriber's position. NATS stores it.
	events, err := stream.PullSubscribe(s.topic, "example-subscriber", nats.DeliverAll(), nats.MaxAckPending(1))
	if err != nil {
		return fmt.Errorf("subscribe to %s; is the system publishing? %w", s.topic, err)
	}
	printed := map[string]int32{} // the last seq_nr by aggregate; a real subscriber stores it with its data
	for ctx.Err() == nil {
		batch, err := events.Fetch(1, nats.MaxWait(time.Second))
		for _, m := range batch {
			if err := show(out, m.Data, printed); err != nil {
				return err
			}
			err = m.AckSync() // without an acknowledgement the event is delivered again
		}
		if err != nil && !errors.Is(err, nats.ErrTimeout) { // the client reconnects
			fmt.Fprintln(log, "waiting for NATS:", err)
			_ = es.Wait(ctx, time.Second)
		}
	}
	return nil
}

// show prints an event unless it is a repeat.
func show(out io.Writer, body []byte, printed map[string]int32) error {
	var e event.Event
	if err := json.Unmarshal(body, &e); err != nil {
		return fmt.Errorf("not a CloudEvent: %w", err)
	}
	seqNr, _ := e.Extensions()["seqnr"].(int32)
	if seqNr <= printed[e.Source()] {
		return nil
	}
	printed[e.Source()] = seqNr
	_, err := fmt.Fprintf(out, "%s  %-24s  %s  %d  %s\n", e.Time().Format(time.RFC3339), e.Type(), e.Source(), seqNr, e.Data())
	return err
}
