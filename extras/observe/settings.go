package observe

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/net/http/httpguts"
	"golang.org/x/time/rate"

	"example.com/threads/infrastructure/config"
)

// Settings are read from the environment. The zero value observes nothing.
type Settings struct {
	Endpoint string // of the collector of traces; empty: nothing is traced
	Sampler  sdk.Sampler
	Headers  http.Header // for the collector
	Profiles string      // address; empty: no profiles
	Metrics  string      // address; empty: the program's own
}

const (
	heading          = "Traces, metrics and profiles (extras/observe)"
	tracesEachSecond = 20
	fewEachSecond    = "parentbased_20_a_second" // the default: at a low load every trace is kept, and at a high load tracing stays cheap
)

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

// eachSecond samples as many traces per second as its limiter allows.
type eachSecond struct{ limiter *rate.Limiter }

// ShouldSample implements [sdk.Sampler].
func (s eachSecond) ShouldSample(p sdk.SamplingParameters) sdk.SamplingResult {
	decision := sdk.Drop
	if s.limiter.Allow() {
		decision = sdk.RecordAndSample
	}
	return sdk.SamplingResult{Decision: decision, Tracestate: trace.SpanContextFromContext(p.ParentContext).TraceState()}
}

// Description implements [sdk.Sampler].
func (s eachSecond) Description() string { return fewEachSecond }
