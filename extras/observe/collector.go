package observe

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// sendTimeout limits a request. Meanwhile spans queue up, and those beyond the queue are dropped, so a collector that
// is down never slows a request.
const sendTimeout = 10 * time.Second

// collector is an [otlptrace.Client] by OTLP over HTTP, without gRPC, which the client of OpenTelemetry links even for
// HTTP. It logs the first of consecutive failures, and their end.
type collector struct {
	url     string
	headers http.Header
	client  http.Client
	log     *slog.Logger
	failing bool // uploads never overlap
}

var _ otlptrace.Client = (*collector)(nil)

// Start implements [otlptrace.Client].
func (*collector) Start(context.Context) error { return nil }

// Stop implements [otlptrace.Client].
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces implements [otlptrace.Client]. Spans that the collector does not take are dropped.
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
