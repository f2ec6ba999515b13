package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"example.com/threads/es/estest/testenv"
)

const soon = 30 * time.Second

// startNATS starts a real server with files; stop ends it, once.
func startNATS(t *testing.T, folder string, port int) (_ *server.Server, stop func()) {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: folder, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	stop = sync.OnceFunc(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	t.Cleanup(stop)
	if !s.ReadyForConnections(soon) {
		t.Fatal("the NATS server is not ready")
	}
	return s, stop
}

func publish(t *testing.T, url string, seqNrs ...int) {
	t.Helper()
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stream, err := conn.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.AddStream(&nats.StreamConfig{Name: "threads-events", Subjects: []string{"threads.events"}}); err != nil {
		t.Fatal(err)
	}
	for _, seqNr := range seqNrs {
		if _, err := stream.Publish("threads.events", opened(seqNr)); err != nil {
			t.Fatal(err)
		}
	}
}

func opened(seqNr int) []byte {
	return fmt.Appendf(nil, `{"specversion":"1.0","id":"1","source":"/acme/order-1","type":"OrderOpened","time":"2026-01-02T03:04:05Z",`+
		`"seqnr":%d,"datacontenttype":"application/json","data":{"number":%[1]d}}`, seqNr)
}

// lines counts what is written, and keeps the last line.
type lines struct {
	mu    sync.Mutex
	count int
	last  string
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count, l.last = l.count+1, string(p)
	return len(p), nil
}

func (l *lines) are(count int, last string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count != count || !strings.Contains(l.last, last) {
		return fmt.Errorf("%d lines, the last %q", l.count, l.last)
	}
	return nil
}

// The subscriber continues where it stopped after a restart of NATS, and after its own.
func TestRestarts(t *testing.T) {
	folder := t.TempDir()
	port := testenv.FreePort(t) // it is started again there
	broker, stopBroker := startNATS(t, folder, port)
	url := broker.ClientURL()
	publish(t, url, 1, 2)
	start := func(out, log io.Writer) (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- run(ctx, settings{url, "threads.events"}, out, log)
		}()
		return sync.OnceFunc(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("the subscriber ended: %v", err)
			}
		})
	}
	var out, log lines
	stop := start(&out, &log)
	defer stop()
	testenv.Eventually(t, soon, func() error { return out.are(2, "order-1  2") })

	stopBroker()
	testenv.Eventually(t, soon, func() error {
		if log.are(0, "") == nil {
			return errors.New("the subscriber has not reported that NATS is down")
		}
		return nil
	})
	startNATS(t, folder, port)
	publish(t, url, 3)
	testenv.Eventually(t, soon, func() error { return out.are(3, "order-1  3") })
	stop()

	publish(t, url, 4)
	var later lines
	defer start(&later, io.Discard)()
	testenv.Eventually(t, soon, func() error { return later.are(1, "order-1  4") })
}

func TestRepeatsAreNotPrinted(t *testing.T) {
	var out bytes.Buffer
	printed := map[string]int32{}
	for _, seqNr := range []int{1, 2, 1, 2, 3} {
		if err := show(&out, opened(seqNr), printed); err != nil {
			t.Fatal(err)
		}
	}
	if printedLines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(printedLines) != 3 || !strings.HasSuffix(printedLines[2], `OrderOpened               /acme/order-1  3  {"number":3}`) {
		t.Errorf("printed\n%s", out.String())
	}
	if err := show(&out, []byte("tea"), printed); err == nil {
		t.Error("a message that is not an event was printed")
	}
}
