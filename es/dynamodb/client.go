package dynamodb

import (
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/es"
)

// Tuned returns cfg with retries and connections for commands that somebody waits for. The SDK's own suit batch jobs.
func Tuned(cfg aws.Config) aws.Config {
	cfg.Retryer, cfg.HTTPClient = newRetryer, newHTTPClient()
	return cfg
}

// NewClient returns a client of the tables, for concurrent use. It does not check the checksums of answers, which only
// logs warnings, for example at every failed condition of DynamoDB Local. TLS protects the data.
func NewClient(cfg aws.Config, options ...func(*dynamodb.Options)) *dynamodb.Client {
	return dynamodb.NewFromConfig(cfg, append(options, func(o *dynamodb.Options) {
		o.DisableValidateResponseChecksum = true
	})...)
}

const (
	// attemptTimeout limits one attempt, to the last byte of the answer. DynamoDB answers in milliseconds: after
	// seconds, a packet or a host is lost, and another connection is better.
	attemptTimeout = 3 * time.Second
	dialTimeout    = time.Second

	// idleConnections are kept. With the SDK's default, 10, the eleventh concurrent command needs a new TLS handshake.
	idleConnections = 256

	// idleTimeout is below the minute or so after which load balancers and NAT gateways silently drop connections.
	idleTimeout = 50 * time.Second
)

func newHTTPClient() aws.HTTPClient {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost, transport.IdleConnTimeout = idleConnections, idleConnections, idleTimeout
	// Unlike the SDK's client, it can close its idle connections. DynamoDB has no redirects.
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Timeout: attemptTimeout, Transport: transport, CheckRedirect: noRedirect}
}

const (
	maxAttempts = 5
	minBackoff  = 25 * time.Millisecond
	maxBackoff  = 400 * time.Millisecond
)

// newRetryer retries transient errors (lost connections, 5xx, throttling) four times within about a second. The SDK's
// default backoff waits up to 2 s and then 4 s, and its MaxBackoff gives a delay without jitter. Its retry quota stays
// active: when everything fails, most calls fail at once instead of multiplying the load.
func newRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		o.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
			return es.Backoff(minBackoff, maxBackoff, attempt), nil
		})
		o.Retryables = append(o.Retryables, retry.IsErrorRetryableFunc(answerCutShort))
	})
}

// answerCutShort detects a connection that broke within an answer. The SDK takes it for one that cannot be parsed.
func answerCutShort(err error) aws.Ternary {
	return aws.BoolTernary(errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF))
}
