package observe_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	otlp "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/observe"
	"example.com/threads/infrastructure/config"
)

// settings reads an environment, which must be valid.
func settings(t *testing.T, env map[string]string) observe.Settings {
	t.Helper()
	s, err := config.Read(func(name string) string { return env[name] }, observe.ReadSettings)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func start(t *testing.T, log *slog.Logger, env map[string]string) *observe.Observer {
	t.Helper()
	traces, err := observe.Start(t.Context(), settings(t, env), "test", prometheus.NewRegistry(), log)
	if err != nil {
		t.Fatal(err)
	}
	return traces
}

func TestWithoutACollectorNothingIsTraced(t *testing.T) {
	traces := start(t, slog.New(slog.DiscardHandler), map[string]string{"OTEL_TRACES_SAMPLER": "always_on"})
	if traces.Provider != nil {
		t.Error("there is a tracer")
	}
	traces.Stop()
}

func TestWrongSettingsAreToldWithoutSecrets(t *testing.T) {
	for variable, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318", "OTEL_TRACES_SAMPLER": "often", "OTEL_TRACES_SAMPLER_ARG": "NaN",
		"OTEL_EXPORTER_OTLP_HEADERS": "hunter2",
	} {
		_, err := config.Read(func(name string) string { return map[string]string{variable: value}[name] }, observe.ReadSettings)
		if err == nil || !strings.Contains(err.Error(), variable) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s=%s: %v", variable, value, err)
		}
	}
	for _, headers := range []string{"=hunter2", "a key=hunter2", "key=hunter2%zz", "key=hunter2,", ",key=hunter2"} {
		_, err := config.Read(func(name string) string {
			return map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": headers}[name]
		}, observe.ReadSettings)
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("headers %s: %v", headers, err)
		}
	}
	settings(t, map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Basic%20hunter2, x-team=a"})
}

// sampled counts the kept of 1,000 traces.
func sampled(t *testing.T, env map[string]string, ctx context.Context) (kept int) {
	t.Helper()
	env["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://127.0.0.1:1"
	traces := start(t, slog.New(slog.DiscardHandler), env)
	defer traces.Stop()
	for range 1000 {
		_, span := traces.Provider.Tracer("test").Start(ctx, "request")
		if span.SpanContext().IsSampled() {
			kept++
		}
	}
	return kept
}

func TestSamplers(t *testing.T) {
	id, span := trace.TraceID{1}, trace.SpanID{1}
	keeps := trace.ContextWithRemoteSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: span, TraceFlags: trace.FlagsSampled}))
	drops := trace.ContextWithRemoteSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: span}))
	for _, test := range []struct {
		name, arg   string
		caller      context.Context
		least, most int
	}{
		{"", "", t.Context(), 20, 999}, // 20 at once, then 20 per second
		{"", "", keeps, 1000, 1000},
		{"", "", drops, 0, 0},
		{"always_on", "", drops, 1000, 1000},
		{"parentbased_always_on", "", t.Context(), 1000, 1000},
		{"parentbased_always_off", "", keeps, 1000, 1000},
		{"parentbased_traceidratio", "0.5", t.Context(), 300, 700},
		{"parentbased_traceidratio", "0", keeps, 1000, 1000},
		{"traceidratio", "0", t.Context(), 0, 0},
	} {
		kept := sampled(t, map[string]string{"OTEL_TRACES_SAMPLER": test.name, "OTEL_TRACES_SAMPLER_ARG": test.arg}, test.caller)
		if kept < test.least || kept > test.most {
			t.Errorf("%q %s: %d of 1000 are kept, want %d to %d", test.name, test.arg, kept, test.least, test.most)
		}
	}
}

// A collector that refuses spans, or never answers, must not delay the program: spans that do not fit in the queue are
// dropped. The log must say so once.
func TestACollectorThatTakesNothing(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
	for name, refuses := range map[string]bool{"refuses": true, "silent": false} {
		t.Run(name, func(t *testing.T) {
			ended, stop := context.WithCancel(context.WithoutCancel(t.Context()))
			requests := make(chan struct{}, 1000)
			collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				requests <- struct{}{}
				if !refuses {
					<-ended.Done()
				}
				w.WriteHeader(http.StatusUnauthorized)
			}))
			defer collector.Close()
			defer stop()
			var log testenv.Log
			traces := start(t, slog.New(slog.NewTextHandler(&log, nil)), map[string]string{
				"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL, "OTEL_TRACES_SAMPLER": "always_on",
			})
			send := func(count int) {
				for range count {
					_, span := traces.Provider.Tracer("test").Start(t.Context(), "request")
					span.End()
				}
			}
			send(10_000) // several times the size of the queue
			<-requests
			if refuses {
				for range 2 {
					send(600)
					<-requests
				}
				testenv.Eventually(t, 30*time.Second, func() error {
					if told := strings.Count(log.String(), "can't be sent"); told != 1 {
						return fmt.Errorf("the log reports it %d times", told)
					}
					return nil
				})
			}
			stopped := make(chan struct{})
			go func() { traces.Stop(); close(stopped) }()
			select {
			case <-stopped:
			case <-time.After(30 * time.Second):
				t.Error("Stop waits for the collector")
			}
			if told := strings.Count(log.String(), "can't be sent"); told > 1 {
				t.Errorf("the log reports it %d times", told)
			}
		})
	}
}

// What a collector gets is OTLP, with the headers of the environment.
func TestWhatACollectorGets(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
	names := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/traces" || r.Header.Get("Authorization") != "Basic hunter2" || r.Header.Get("x-team") != "a" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		body, err := io.ReadAll(r.Body)
		var request otlp.ExportTraceServiceRequest
		if err := errors.Join(err, proto.Unmarshal(body, &request)); err != nil {
			t.Error(err)
			return
		}
		names <- request.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans()[0].GetName()
	}))
	defer collector.Close()
	traces := start(t, slog.New(slog.DiscardHandler), map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL + "/", "OTEL_TRACES_SAMPLER": "always_on",
		"OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Basic%20hunter2, x-team=a",
	})
	_, span := traces.Provider.Tracer("test").Start(t.Context(), "request")
	span.End()
	select {
	case name := <-names:
		if name != "request" {
			t.Errorf("the span's name is %q", name)
		}
	case <-time.After(30 * time.Second):
		t.Error("no span has arrived")
	}
	traces.Stop()
}
