package publisher

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/nats-io/nats.go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// cause describes why an event was not accepted, in words of our own. The text of a library's error may quote what the
// broker answered, and so the texts in the event, or secrets of the URL.
func cause(err error) string {
	var (
		status      *statusError
		jetStream   *nats.APIError
		kafka       *kerr.Error
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		system      syscall.Errno
	)
	switch {
	case errors.As(err, &status):
		return status.Error()
	case errors.As(err, &jetStream):
		return fmt.Sprintf("JetStream answered with its error code %d", jetStream.ErrorCode)
	case errors.As(err, &kafka):
		return "Kafka answered " + kafka.Message // a constant of the client
	case errors.Is(err, nats.ErrMaxPayload):
		return "the event is larger than NATS accepts"
	case errors.Is(err, nats.ErrAuthorization):
		return "NATS refuses the user or token"
	case errors.As(err, &name):
		return "the broker's host name can't be resolved"
	case errors.As(err, &certificate):
		return "the broker's certificate is not trusted"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, nats.ErrTimeout), errors.Is(err, kgo.ErrRecordTimeout):
		return "no answer in time"
	case errors.As(err, &system):
		return "the connection failed: " + system.Error() // the operating system's words
	case errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrDisconnected), errors.Is(err, nats.ErrConnectionClosed):
		return "there is no connection"
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return fmt.Sprintf("no valid answer (%T)", err)
}
