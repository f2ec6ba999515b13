// Command subscriber is an example subscriber. It prints the events that the system publishes to NATS: each event once,
// and in order within its aggregate. After a restart it continues where it stopped, and may repeat the last event.
//
//	PUBLISH_URL=nats://127.0.0.1:4222 go run ./cmd/subscriber
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cloudevents/sdk-go/v2/event"
	"github.com/nats-io/nats.go"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run prints events until ctx ends. While NATS is down, it waits.
func run(ctx context.Context, getenv func(string) string, out, log io.Writer) error {
	url, topic := getenv("PUBLISH_URL"), getenv("PUBLISH_TOPIC")
	if url == "" {
		url = nats.DefaultURL
	}
	if topic == "" {
		topic = "threads.events"
	}
	conn, err := nats.Connect(url, nats.MaxReconnects(-1))
	if err != nil {
		return fmt.Errorf("connect to PUBLISH_URL: %w", err)
	}
	defer conn.Close()
	stream, err := conn.JetStream()
	if err != nil {
		return err
	}
	// The durable consumer holds the subscriber's position. NATS stores it.
	events, err := stream.PullSubscribe(topic, "example-subscriber", nats.DeliverAll(), nats.MaxAckPending(1))
	if err != nil {
		return fmt.Errorf("subscribe to %s; is the system publishing? %w", topic, err)
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
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
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
