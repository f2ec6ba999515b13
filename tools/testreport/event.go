package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// event is one line of go test -json; see go doc test2json.
type event struct {
	Action     string
	Package    string
	ImportPath string // in place of Package while building
	Test       string
	Elapsed    float64
	Output     string
}

// read feeds the report from a stream of events, and looks every few seconds for what takes long.
func (r *report) read(events io.Reader) error {
	lines := make(chan []byte)
	failed := make(chan error, 1)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(events)
		scanner.Buffer(nil, 1<<24)
		for scanner.Scan() {
			lines <- append([]byte(nil), scanner.Bytes()...)
		}
		failed <- scanner.Err()
	}()
	ticker := time.NewTicker(slowInterval)
	defer ticker.Stop()
	for {
		select {
		case line, open := <-lines:
			if !open {
				return <-failed
			}
			var e event
			if json.Unmarshal(line, &e) != nil {
				fmt.Fprintf(r.out, "%s\n", line) // something else that go had to say
				continue
			}
			r.take(e)
		case <-ticker.C:
			r.showSlow()
		}
	}
}
