package tracing

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	sdk "go.opentelemetry.io/otel/sdk/trace"

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
