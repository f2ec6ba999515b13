// extra:whole

package main

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/lambdatest"
)

// The figures of the last invocation tell each condition that an alarm is set on.
func TestFigures(t *testing.T) {
	w := newWorld(t, 10*time.Second, 1).migrate(t)
	w.function.Env = append(w.function.Env, "AWS_LAMBDA_FUNCTION_NAME=updater", "LOG_LEVEL=error")
	figures := func(payload string) map[string]float64 {
		t.Helper()
		w.invoke(t, []byte(payload))
		lines := strings.Split(strings.TrimSpace(w.output.String()), "\n")
		return figuresIn(t, lines[len(lines)-1])
	}
	want := map[string]float64{
		"projection_parked_aggregates": 0, "projection_rows_outdated": 0, "projection_rebuild_interrupted": 0, "projection_aggregates_ahead": 0,
		"projection_unregistered_type": 0, "process_commands_failing": 0, "process_parked_aggregates": 0,
	}
	if found := figures(scheduled); !maps.Equal(found, want) {
		t.Errorf("of an empty journal: %v", found)
	}

	admin := kit.NewID[ident.UserAccount]()
	w.on(t, thread.ID{}, admin, thread.Create{Executor: admin, Name: writing.RecordedName("tea")})
	for _, kind := range []string{"account", "order"} {
		unread := es.Entry{SeqNr: 1, EventID: kit.NewID[struct{}]().String(), OccurredAt: time.Now(), Payload: []byte(`{"type":"Painted"}`)}
		id := es.AggregateID{Type: kind, ID: kit.NewID[struct{}]().String()}
		if err := w.gateway.Append(t.Context(), es.Append{ID: id, Entries: []es.Entry{unread}}); err != nil {
			t.Fatal(err)
		}
	}
	w.invoke(t, lambdatest.EventOf(w.records(t, 3)))
	spoil := func(statement string, args ...any) {
		t.Helper()
		if _, err := w.db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	spoil("UPDATE projection_positions SET version = 7 WHERE aggregate_type = 'thread' AND projection = 'read-model'")
	spoil("UPDATE row_sets SET handlers = REPLACE(handlers, 'thread=', 'thread=9') WHERE projection = 'read-model'")
	spoil("INSERT INTO projection_rebuilds VALUES ('read-model', 1, 'read-model@1', '', 'reading', 0, 0, FALSE, '', 0, 0)")
	later := time.Now().Add(time.Hour).UnixMicro()
	spoil("INSERT INTO process_commands VALUES ('leave-on-close', '', 'thread', 'x', 'x', 'x', 'x', 'x', 'x', 1, 'x', ?, 1)", later)
	for name := range want {
		want[name] = 1
	}
	if found := figures(`{"Records":[{}]}`); !maps.Equal(found, want) {
		t.Errorf("of a damaged system: %v", found)
	}
}

// figuresIn returns the metrics that CloudWatch makes of a line.
func figuresIn(t *testing.T, line string) map[string]float64 {
	t.Helper()
	var format struct {
		AWS struct {
			Timestamp         int64
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
				Metrics    []struct{ Name string }
			}
		} `json:"_aws"`
		FunctionName string
	}
	values := map[string]any{}
	if err := json.Unmarshal([]byte(line), &format); err != nil || json.Unmarshal([]byte(line), &values) != nil {
		t.Fatalf("%s: %v", line, err)
	}
	of := format.AWS.CloudWatchMetrics
	if len(of) != 1 || of[0].Namespace != "lambda-updater" || len(of[0].Dimensions) != 1 || of[0].Dimensions[0][0] != "FunctionName" ||
		format.FunctionName != "updater" || time.Since(time.UnixMilli(format.AWS.Timestamp)).Abs() > time.Minute {
		t.Fatal(line)
	}
	figures := map[string]float64{}
	for _, metric := range of[0].Metrics {
		figures[metric.Name], _ = values[metric.Name].(float64)
	}
	return figures
}
