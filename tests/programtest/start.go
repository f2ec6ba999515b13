package programtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	"example.com/threads/infrastructure/program"
)

// stopTimeout is longer than any program needs to finish its accepted work.
const stopTimeout = 15 * time.Second

// Running is a program that runs in the test's process.
type Running struct {
	URL  string
	stop context.CancelFunc
	done chan struct{} // closed when the program has ended and err is set
	err  error
}

// Start runs a program until the test ends. It returns when the program listens. The program logs JSON.
func Start(t *testing.T, run program.Run, environment map[string]string) *Running {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	p := &Running{stop: stop, done: make(chan struct{})}
	out, in := io.Pipe()
	go func() {
		defer close(p.done)
		p.err = run(ctx, nil, func(name string) string { return environment[name] }, in)
		_ = in.Close()
	}()
	t.Cleanup(func() { _ = p.Stop() })
	for lines := bufio.NewScanner(out); p.URL == "" && lines.Scan(); {
		var line struct{ Msg, URL string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if line.Msg == "listening" {
			p.URL = line.URL
		}
	}
	if p.URL == "" {
		t.Fatalf("the program does not listen: %v", p.Wait())
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the program
	return p
}

// Stop ends the program as a signal does, and waits for its end.
func (p *Running) Stop() error {
	p.stop()
	return p.Wait()
}

// BeginStop ends the program without waiting.
func (p *Running) BeginStop() { p.stop() }

// Wait waits for the program's end and returns its error.
func (p *Running) Wait() error {
	select {
	case <-p.done:
		return p.err
	case <-time.After(stopTimeout):
		return errors.New("the program does not stop")
	}
}
