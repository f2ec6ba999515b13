package tracing

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"

	"example.com/threads/infrastructure/config"
)

// Settings are read from the environment. The zero value traces nothing.
type Settings struct {
	endpoint string // of the collector; empty: nothing is traced
	sampler  sdk.Sampler
}

// ReadSettings also declares and checks the headers, which the SDK reads by itself, like all other OTEL_ variables.
func ReadSettings(r *config.Reader) Settings {
	s := Settings{endpoint: r.URL("OTEL_EXPORTER_OTLP_ENDPOINT",
		"collector that traces are sent to by OTLP over HTTP, such as http://127.0.0.1:4318; without it nothing is traced")}
	ratio := config.Parsed(r, "OTEL_TRACES_SAMPLER_ARG", "1", "with ..._traceidratio, the share of traces that are kept; 0 to 1", parseRatio)
	s.sampler = config.Parsed(r, "OTEL_TRACES_SAMPLER", fewEachSecond,
		"which traces are kept, as OpenTelemetry names it, such as parentbased_traceidratio; by default those whose caller keeps them, and "+
			"of all others 20 a second", func(name string) (sdk.Sampler, error) { return samplerOf(name, ratio) })
	r.Secret("OTEL_EXPORTER_OTLP_HEADERS", "headers for the collector: key=value, separated by commas, with percent-encoded values", validHeaders)
	return s
}

func parseRatio(text string) (float64, error) {
	ratio, err := strconv.ParseFloat(text, 64)
	if err != nil || !(ratio >= 0 && ratio <= 1) {
		return 0, errors.New(strconv.Quote(text) + " is not a number from 0 to 1")
	}
	return ratio, nil
}

// validHeaders accepts what the SDK can use. For any other text the SDK would log the secret.
func validHeaders(text string) error {
	if text == "" {
		return nil
	}
	for header := range strings.SplitSeq(text, ",") {
		key, value, found := strings.Cut(header, "=")
		if _, err := url.PathUnescape(value); err != nil || !found || !isToken(strings.TrimSpace(key)) {
			return errors.New("not a header")
		}
	}
	return nil
}

// isToken reports whether text can be the name of a header.
func isToken(text string) bool {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"
	return text != "" && strings.Trim(text, allowed) == ""
}

// fewEachSecond is the default: at a low load every trace is kept, and at a high load tracing stays cheap.
const fewEachSecond = "parentbased_20_a_second"

const tracesEachSecond = 20

// samplerOf returns a sampler by its name in OTEL_TRACES_SAMPLER.
func samplerOf(name string, ratio float64) (sdk.Sampler, error) {
	if name == fewEachSecond {
		return sdk.ParentBased(eachSecond{rate.NewLimiter(tracesEachSecond, tracesEachSecond)}), nil
	}
	roots := map[string]sdk.Sampler{
		"always_on": sdk.AlwaysSample(), "always_off": sdk.NeverSample(), "traceidratio": sdk.TraceIDRatioBased(ratio),
	}
	plain, parentBased := strings.CutPrefix(strings.ToLower(strings.TrimSpace(name)), "parentbased_")
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
