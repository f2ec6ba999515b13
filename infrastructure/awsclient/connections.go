package awsclient

import (
	"net"
	"net/http"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

const (
	// attemptTimeout limits one attempt, from dialling to the last byte of the answer. DynamoDB answers in
	// milliseconds. An attempt that takes seconds has lost a packet or its host; a retry on another connection is
	// better.
	attemptTimeout = 3 * time.Second
	dialTimeout    = time.Second

	// idleConnections is the number of idle connections to keep. The SDK's default is 10, so the eleventh concurrent
	// command would need a new TLS handshake.
	idleConnections = 256

	// idleTimeout is below the minute or so after which load balancers and NAT gateways silently drop idle connections.
	// A connection that we close ourselves cannot fail the next request.
	idleTimeout = 50 * time.Second
)

func newHTTPClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().
		WithTimeout(attemptTimeout).
		WithDialerOptions(func(dialer *net.Dialer) { dialer.Timeout = dialTimeout }).
		WithTransportOptions(func(transport *http.Transport) {
			transport.MaxIdleConns = idleConnections
			transport.MaxIdleConnsPerHost = idleConnections
			transport.IdleConnTimeout = idleTimeout
		})
}
