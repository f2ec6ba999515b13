package page

import (
	"maps"
	"testing"
)

func TestFigures(t *testing.T) {
	got := figures(`# HELP commands_total Commands.
commands_total{command="thread.Create",outcome="accepted"} 1
commands_total{command="thread.PostMessage",outcome="a b"} 3
commands_total{command="thread.Rename",outcome="forbidden"} 2
commands_total{command="thread.Delete",outcome="not_found"} 1
commands_conflicts_total 2
go_threads 10
state_cache_entries{aggregate_type="thread"} 7
http_request_duration_seconds_bucket{method="POST",route="/a",status="200",le="0.001"} 1
http_request_duration_seconds_bucket{method="POST",route="/b",status="200",le="0.001"} 2
http_request_duration_seconds_bucket{method="POST",route="/b",status="200",le="+Inf"} 5
http_request_duration_seconds_bucket{method="GET",route="/metrics",status="200",le="+Inf"} 90
process_resident_memory_bytes 5.8e+07
{"status":404,"detail":"the metrics are at an address of their own"}
broken`)
	want := map[string]float64{
		"commands_total": 7, "commands_refused_total": 3, "commands_conflicts_total": 2, "process_resident_memory_bytes": 5.8e7,
		"http_request_duration_seconds_bucket:0.001": 3, "http_request_duration_seconds_bucket:+Inf": 5,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
