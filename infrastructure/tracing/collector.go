package tracing

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector sends spans by OTLP over HTTP. It is an [otlptrace.Client] without gRPC, which the client of OpenTelemetry
// links even for HTTP.
type collector struct {
	url     string
	headers http.Header
	zip     bool
	client  *http.Client
}

const usualTimeout = 10 * time.Second // of a request; OpenTelemetry's default

// variable returns a setting of OTLP, which can be one for traces alone.
func variable(name string) string {
	return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), os.Getenv("OTEL_EXPORTER_OTLP_"+name))
}

// newCollector reads OpenTelemetry's variables for an exporter. Its errors have no secrets.
func newCollector(endpoint string) (*collector, error) {
	c := &collector{url: strings.TrimSuffix(endpoint, "/") + "/v1/traces", headers: http.Header{}, zip: variable("COMPRESSION") == "gzip"}
	for header := range strings.SplitSeq(variable("HEADERS"), ",") {
		if key, value, found := strings.Cut(header, "="); found {
			value, err := url.PathUnescape(strings.TrimSpace(value))
			if err != nil {
				return nil, errors.New("OTEL_EXPORTER_OTLP_HEADERS is wrong")
			}
			c.headers.Set(strings.TrimSpace(key), value)
		}
	}
	c.headers.Set("Content-Type", "application/x-protobuf")
	if c.zip {
		c.headers.Set("Content-Encoding", "gzip")
	}
	timeout := usualTimeout
	if milliseconds, err := strconv.ParseUint(variable("TIMEOUT"), 10, 31); err == nil {
		timeout = time.Duration(milliseconds) * time.Millisecond
	}
	trusted, err := certificates()
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() // it is one unless a test has replaced it
	transport.TLSClientConfig = trusted
	c.client = &http.Client{Timeout: timeout, Transport: transport}
	return c, nil
}

// certificates reads the files of certificates; nil: the computer's.
func certificates() (*tls.Config, error) {
	trusted, own := variable("CERTIFICATE"), variable("CLIENT_CERTIFICATE")
	if trusted == "" && own == "" {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if trusted != "" {
		text, err := os.ReadFile(trusted)
		config.RootCAs = x509.NewCertPool()
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE can't be read: %w", err)
		}
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, errors.New("OTEL_EXPORTER_OTLP_CERTIFICATE has no certificates")
		}
	}
	if own != "" {
		pair, err := tls.LoadX509KeyPair(own, variable("CLIENT_KEY"))
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and ..._CLIENT_KEY can't be used: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

// Start implements [otlptrace.Client].
func (c *collector) Start(context.Context) error { return nil }

// Stop implements [otlptrace.Client].
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}

// UploadTraces implements [otlptrace.Client]. It repeats a request that the collector may accept later.
func (c *collector) UploadTraces(ctx context.Context, spans []*otlp.ResourceSpans) error {
	body, err := proto.Marshal(&otlp.TracesData{ResourceSpans: spans}) // the same on the wire as an export request
	if err != nil {
		return err
	}
	if c.zip {
		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		_, _ = writer.Write(body) // a buffer takes everything
		_ = writer.Close()
		body = packed.Bytes()
	}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = retryTime/10, retryTime/2
	_, err = backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, c.send(ctx, body) },
		backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(retryTime))
	return err
}

func (c *collector) send(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return backoff.Permanent(err)
	}
	request.Header = c.headers.Clone()
	response, err := c.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 4096) // so that the connection can be used again
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
			return backoff.RetryAfter(seconds)
		}
		return fmt.Errorf("the collector answered %s", response.Status)
	}
	if response.StatusCode/100 != 2 {
		return backoff.Permanent(fmt.Errorf("the collector answered %s", response.Status))
	}
	return nil
}
