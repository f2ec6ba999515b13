package awsclient

import (
	"net"
	"net/http"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

const (
	// attemptTimeout ends one attempt, from dialling to the last byte of the answer. DynamoDB answers in milliseconds; what
	// takes seconds is a lost packet or a dead host, and the next attempt, on another connection, is the better bet.
	attemptTimeout = 3 * time.Second
	dialTimeout    = time.Second

	// idleConnections is how many connections wait for their next request. The SDK keeps 10, so that the eleventh
	// concurrent command pays for a TLS handshake, and throws the connection away afterwards.
	idleConnections = 256

	// idleTimeout is below the minute or so after which load balancers and NAT gateways drop an idle connection without
	// a word: what we closed ourselves can't fail the next request.
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
