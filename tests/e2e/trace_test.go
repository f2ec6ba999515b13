package e2e

import (
	"fmt"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
)

// caller is the span of a client that posts and queries.
const (
	callersTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callersSpan  = "00f067aa0ba902b7"
)

// A client's trace must contain the whole way of its post: HTTP, decision, append, stream, projection, commit, and the
// query that waited for it.
func TestOneTraceFromACommandToTheAnswerThatWaitedForIt(t *testing.T) {
	startsPrograms(t)
	inOne := map[string]string{"write-api": "standalone", "read-model-updater": "standalone", "read-api": "standalone"}
	for name, setup := range map[string]struct {
		start    func(*testing.T, ...string) *system
		services map[string]string // the sender of each program's spans; nil: the programs
		store    string            // the name of a span of the event store
	}{
		"three programs on DynamoDB and MySQL": {
			start: func(t *testing.T, more ...string) *system { return threePrograms(t, append(dynamoDB(t), more...)) },
			store: "DynamoDB TransactWriteItems",
		},
		"three programs on one MySQL": {
			start: func(t *testing.T, more ...string) *system { return threePrograms(t, append(oneMySQL(t), more...)) },
			store: "INSERT",
		},
		"one process on SQLite": {start: oneProcess, services: inOne, store: "INSERT"},
	} {
		t.Run(name, func(t *testing.T) {
			collector := newTraceCollector(t)
			s := setup.start(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.url, "OTEL_BSP_SCHEDULE_DELAY=50")
			ada := s.person("acme")
			thread := ada.command(t, "/threads/create", fields{"name": "traces"}).text("thread_id")
			ada.header["traceparent"] = "00-" + callersTrace + "-" + callersSpan + "-01"
			posted := token(ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": "follow me"}))
			ada.view(t, thread, posted)

			version := "thread-" + posted
			for _, want := range []struct{ name, parent, service, version string }{
				{name: "POST /threads/post_message", service: "write-api"},
				{name: "thread.PostMessage", parent: "POST /threads/post_message", service: "write-api", version: version},
				{name: "append", parent: "thread.PostMessage", service: "write-api"},
				{name: setup.store, parent: "append", service: "write-api"},
				{name: "stream", parent: "thread.PostMessage", service: "read-model-updater"},
				{name: "project thread.MessagePosted", parent: "thread.PostMessage", service: "read-model-updater", version: version},
				{name: "commit", parent: "project thread.MessagePosted", service: "read-model-updater"},
				{name: "POST /graphql", service: "read-api"},
				{name: "await consistency token", parent: "POST /graphql", service: "read-api", version: version},
			} {
				if setup.services != nil {
					want.service = setup.services[want.service]
				}
				testenv.Eventually(t, 30*time.Second, func() error {
					spans := collector.ofTrace(callersTrace)
					got, sent := spans[want.name]
					parent := callersSpan
					if want.parent != "" {
						parent = spans[want.parent].id()
					}
					if !sent || got.parent() != parent || got.service != want.service || got.attribute("aggregate.version") != want.version {
						return fmt.Errorf("span %s: sent %t, parent %s, want %s, of %s, version %q", want.name, sent, got.parent(), parent, got.service, got.attribute("aggregate.version"))
					}
					if got.EndTimeUnixNano < got.StartTimeUnixNano {
						return fmt.Errorf("span %s ends before it starts", want.name)
					}
					return nil
				})
			}
		})
	}
}
