// Package observe sends a program's traces to a collector by OTLP over HTTP, and serves its metrics and profiles on
// addresses of their own. The provider of tracers is handed to who starts traces: there is no global one.
package observe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"golang.org/x/net/http/httpguts"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"
	"google.golang.org/protobuf/proto"

	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/httpserver"
)

const (
	flushTimeout = 2 * time.Second // for the last spans
	// sendTimeout limits a request. Meanwhile spans queue up, and those beyond the queue are dropped, so a collector
	// that is down never slows a request.
	sendTimeout = 10 * time.Second

	heading          = "Traces, metrics and profiles (extras/observe)"
	tracesEachSecond = 20
	fewEachSecond    = "parentbased_20_a_second" // the default: at a high load tracing stays cheap
)

// Observer observes a program. Create it with [Start] and end it with [Observer.Stop].
type Observer struct {
	Provider trace.TracerProvider // of tracers; nil: no traces

	settings Settings
	registry *prometheus.Registry
	log      *slog.Logger
	stop     func(context.Context) error // of the provider
}

// Start starts sending traces if a collector is set. It does not connect. program is the service's name, unless
// OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES sets another one. registry has the program's metrics.
func Start(ctx context.Context, settings Settings, program string, registry *prometheus.Registry, log *slog.Logger) (*Observer, error) {
	o := &Observer{settings: settings, registry: registry, log: log, stop: func(context.Context) error { return nil }}
	if settings.Endpoint == "" {
		return o, nil
	}
	otel.SetLogger(logr.Discard()) // the SDK would log malformed variables, secrets included
	exporter, err := otlptrace.New(ctx, &collector{
		url: strings.TrimSuffix(settings.Endpoint, "/") + "/v1/traces", headers: settings.Headers, client: http.Client{Timeout: sendTimeout}, log: log,
	})
	if err != nil {
		return nil, err
	}
	about, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName(program)), resource.WithHost(), resource.WithTelemetrySDK(),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES must be key=value, separated by commas: %w", err)
	}
	log.InfoContext(ctx, "traces are sent", "endpoint", settings.Endpoint, "sampler", settings.Sampler.Description())
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about), sdk.WithSampler(settings.Sampler))
	o.Provider, o.stop = provider, provider.Shutdown
	return o, nil
}

// Stop sends the ended spans, for flushTimeout at most. Unsent spans are lost.
func (o *Observer) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	_ = o.stop(ctx) // the collector has logged the error
}

// Watch traces the requests of a server, and hides its metrics if they have an address of their own.
func (o *Observer) Watch(server *httpserver.Server) {
	if o.Provider != nil {
		server.Tracer = o.Provider.Tracer("http")
	}
	if o.settings.Metrics == "" {
		return
	}
	server.Around = append(server.Around, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/metrics" {
				httpserver.WriteProblem(w, http.StatusNotFound, "path_not_found", "the metrics are at an address of their own")
				return
			}
			next.ServeHTTP(w, r)
		})
	})
}

// Run serves the metrics and the profiles that have addresses, until ctx ends.
func (o *Observer) Run(ctx context.Context) error {
	metrics, profiles := http.NewServeMux(), chi.NewRouter()
	metrics.Handle("GET /metrics", httpserver.Metrics(o.registry))
	profiles.Mount("/debug", middleware.Profiler())
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return o.serve(ctx, "METRICS_ADDR", o.settings.Metrics, metrics) })
	group.Go(func() error { return o.serve(ctx, "PPROF_ADDR", o.settings.Profiles, profiles) })
	return group.Wait()
}

func (o *Observer) serve(ctx context.Context, setting, address string, handler http.Handler) error {
	if address == "" {
		return nil
	}
	server, err := httpserver.Listen(ctx, o.log, setting, address)
	if err != nil {
		return err
	}
	o.log.InfoContext(ctx, "measurements", "setting", setting, "url", server.URL())
	return server.Serve(ctx, handler)
}

// collector is an [otlptrace.Client] by OTLP over HTTP, without gRPC, which the client of OpenTelemetry links even for
// HTTP. It logs the first of consecutive failures, and their end.
type collector struct {
	url     string
	headers http.Header
	client  http.Client
	log     *slog.Logger
	failing bool // uploads never overlap
}

func (*collector) Start(context.Context) error { return nil }

func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces sends spans. Those that the collector does not take are dropped.
func (c *collector) UploadTraces(ctx context.Context, spans []*otlp.ResourceSpans) error {
	body, err := proto.Marshal(&otlp.TracesData{ResourceSpans: spans}) // the same on the wire as an export request
	if err != nil {
		return err
	}
	switch err = c.send(ctx, body); {
	case err != nil && !c.failing:
		c.log.WarnContext(ctx, "traces can't be sent and are dropped until they can: check the collector and OTEL_EXPORTER_OTLP_ENDPOINT", "error", err)
	case err == nil && c.failing:
		c.log.InfoContext(ctx, "traces are sent again")
	}
	c.failing = err != nil
	return nil
}

func (c *collector) send(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = c.headers.Clone()
	request.Header.Set("Content-Type", "application/x-protobuf")
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 4096) // so that the connection can be used again
	if response.StatusCode/100 == 2 {
		return nil
	}
	return fmt.Errorf("the collector answered %s", response.Status)
}

// Settings are read from the environment. The zero value observes nothing.
type Settings struct {
	Endpoint string // of the collector of traces; empty: nothing is traced
	Sampler  sdk.Sampler
	Headers  http.Header // for the collector
	Profiles string      // address; empty: no profiles
	Metrics  string      // address; empty: the program's own
}

// ReadSettings reads all but the address of the metrics. The SDK reads the other OTEL_ variables by itself.
func ReadSettings(r *config.Reader) (s Settings) {
	r = r.Group(heading)
	s.Profiles = r.Address("PPROF_ADDR", "", "address for Go's profiles (/debug/pprof/), such as 127.0.0.1:26060; without it there are none")
	s.Endpoint = r.URL("OTEL_EXPORTER_OTLP_ENDPOINT",
		"collector that traces are sent to by OTLP over HTTP, such as http://127.0.0.1:4318; without it nothing is traced")
	ratio := config.Parsed(r, "OTEL_TRACES_SAMPLER_ARG", "1", "with ..._traceidratio, the share of traces that are kept; 0 to 1", parseRatio)
	s.Sampler = config.Parsed(r, "OTEL_TRACES_SAMPLER", fewEachSecond,
		"which traces are kept, as OpenTelemetry names it, such as parentbased_traceidratio; by default those whose caller keeps them, and "+
			"of all others 20 a second", func(name string) (sdk.Sampler, error) { return samplerOf(name, ratio) })
	r.Secret("OTEL_EXPORTER_OTLP_HEADERS", "headers for the collector: key=value, separated by commas, with percent-encoded values",
		func(text string) (err error) {
			s.Headers, err = parseHeaders(text)
			return err
		})
	return s
}

// ReadMetrics reads the address of the metrics, for a program that is alone in its process.
func (s *Settings) ReadMetrics(r *config.Reader) {
	s.Metrics = r.Group(heading).Address("METRICS_ADDR", "",
		"address for /metrics alone, such as 127.0.0.1:29080; without it /metrics is on the program's own")
}

func parseRatio(text string) (float64, error) {
	ratio, err := strconv.ParseFloat(text, 64)
	if err != nil || !(ratio >= 0 && ratio <= 1) {
		return 0, errors.New(strconv.Quote(text) + " is not a number from 0 to 1")
	}
	return ratio, nil
}

func parseHeaders(text string) (http.Header, error) {
	headers := http.Header{}
	if text == "" {
		return headers, nil
	}
	for header := range strings.SplitSeq(text, ",") {
		key, value, found := strings.Cut(header, "=")
		key = strings.TrimSpace(key)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil || !found || !httpguts.ValidHeaderFieldName(key) {
			return nil, errors.New("not a header")
		}
		headers.Set(key, value)
	}
	return headers, nil
}

// samplerOf returns a sampler by its name in OTEL_TRACES_SAMPLER.
func samplerOf(name string, ratio float64) (sdk.Sampler, error) {
	roots := map[string]sdk.Sampler{
		"always_on": sdk.AlwaysSample(), "always_off": sdk.NeverSample(), "traceidratio": sdk.TraceIDRatioBased(ratio),
		"20_a_second": eachSecond{rate.NewLimiter(tracesEachSecond, tracesEachSecond)},
	}
	plain, parentBased := strings.CutPrefix(name, "parentbased_")
	root, known := roots[plain]
	if !known {
		return nil, fmt.Errorf("%q is not a sampler: use always_on, always_off, traceidratio, or one of them after parentbased_", name)
	}
	if parentBased {
		return sdk.ParentBased(root), nil
	}
	return root, nil
}

// eachSecond is an [sdk.Sampler] of as many traces per second as its limiter allows.
type eachSecond struct{ limiter *rate.Limiter }

func (s eachSecond) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	decision := sdk.Drop
	if s.limiter.Allow() {
		decision = sdk.RecordAndSample
	}
	return sdk.SamplingResult{Decision: decision, Tracestate: trace.SpanContextFromContext(p.ParentContext).TraceState()}
}

func (s eachSecond) Description() string { return fewEachSecond }
