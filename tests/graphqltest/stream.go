package graphqltest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The kinds of events on a stream.
const (
	EventNext     = "next"
	EventError    = "error" // of transports that have it: the operation was not executed
	EventComplete = "complete"
	EventCut      = "cut" // the connection ended without a message about the subscription
)

// Stream is a subscription for a client.
type Stream interface {
	// Take waits for the next event other than a keep-alive.
	Take(t *testing.T) (event string, got Answer)
	// Signs returns how many keep-alives have arrived.
	Signs() int
}

// Patience limits the wait for an event.
const Patience = 15 * time.Second

// TakeThread takes the next state of the thread.
func TakeThread(t *testing.T, s Stream) (name string, version int) {
	t.Helper()
	event, got := s.Take(t)
	if event != EventNext {
		t.Fatalf("%s, want a state", event)
	}
	var data struct {
		ThreadChanged struct {
			Name    string
			Version int
		}
	}
	got.Into(t, &data)
	return data.ThreadChanged.Name, data.ThreadChanged.Version
}

// WantEnd takes the last answer, an error with the code, and the end.
func WantEnd(t *testing.T, s Stream, code string) {
	t.Helper()
	event, got := s.Take(t)
	for event == EventNext && got.Code() == "" { // skip earlier states
		event, got = s.Take(t)
	}
	if event != EventNext || got.Code() != code || string(got.Data) != "null" {
		t.Fatalf("%s %q %s, want the error %s", event, got.Code(), got.Data, code)
	}
	if event, _ := s.Take(t); event != EventComplete {
		t.Errorf("%s after the error", event)
	}
}

// TenantHeader returns the header with the tenant; the tenant with the empty code needs none.
func (a Asked) TenantHeader() http.Header {
	if a.Tenant == "" {
		return http.Header{}
	}
	return http.Header{"X-Tenant-Code": {a.Tenant}}
}

// events is a subscription by server-sent events.
type events struct {
	lines    *bufio.Scanner
	comments int
}

// SubscribeByEvents subscribes by server-sent events.
func SubscribeByEvents(t *testing.T, a *API, with Asked, document string) Stream {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": with.Variables})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL, strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = with.TenantHeader()
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("%d %s", response.StatusCode, kind)
	}
	return &events{lines: bufio.NewScanner(response.Body)}
}

func (e *events) Take(t *testing.T) (string, Answer) {
	t.Helper()
	var event string
	var got Answer
	for e.lines.Scan() {
		field, value, _ := strings.Cut(e.lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case e.lines.Text() == "" && event != "":
			return event, got
		case field == "" && value != "":
			e.comments++
		case field == "event":
			event = value
		case field == "data" && value != "":
			if err := json.Unmarshal([]byte(value), &got); err != nil {
				t.Fatalf("%s: %v", value, err)
			}
		}
	}
	if err := e.lines.Err(); errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("no event arrived: %v", err)
	}
	return EventCut, got
}

func (e *events) Signs() int { return e.comments }

// SameJSON compares JSON regardless of the order of names.
func SameJSON(t *testing.T, got json.RawMessage, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatalf("got %s: %v", got, err)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatalf("want %s: %v", want, err)
	}
	if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
		t.Errorf("got\n%s\nwant\n%s", x, y)
	}
}
