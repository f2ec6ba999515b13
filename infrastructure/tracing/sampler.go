package tracing

import (
	"fmt"
	"strings"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/time/rate"
)

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
