package e2e

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// traceCollector receives traces by OTLP over HTTP.
type traceCollector struct {
	url   string
	mutex sync.Mutex
	spans []receivedSpan
}

type receivedSpan struct {
	*otlp.Span
	service string
}

func (s receivedSpan) trace() string  { return hex.EncodeToString(s.GetTraceId()) }
func (s receivedSpan) id() string     { return hex.EncodeToString(s.GetSpanId()) }
func (s receivedSpan) parent() string { return hex.EncodeToString(s.GetParentSpanId()) }

// attribute returns the text of an attribute; the first one if there are several.
func (s receivedSpan) attribute(key string) string {
	for _, attribute := range s.GetAttributes() {
		if attribute.Key == key {
			return attribute.Value.GetStringValue()
		}
	}
	return ""
}

func newTraceCollector(t *testing.T) *traceCollector {
	c := &traceCollector{}
	server := httptest.NewServer(http.HandlerFunc(c.receive))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

func (c *traceCollector) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	request := &collector.ExportTraceServiceRequest{}
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, request) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, resource := range request.ResourceSpans {
		service := ""
		for _, attribute := range resource.Resource.Attributes {
			if attribute.Key == "service.name" {
				service = attribute.Value.GetStringValue()
			}
		}
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				c.spans = append(c.spans, receivedSpan{span, service})
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// ofTrace returns the spans of a trace by name; the last one if several have the same name.
func (c *traceCollector) ofTrace(trace string) map[string]receivedSpan {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	found := map[string]receivedSpan{}
	for _, span := range c.spans {
		if span.trace() == trace {
			found[span.Name] = span
		}
	}
	return found
}

// text returns everything that was received.
func (c *traceCollector) text() string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var text strings.Builder
	for _, span := range c.spans {
		text.WriteString(span.String() + "\n")
	}
	return text.String()
}
