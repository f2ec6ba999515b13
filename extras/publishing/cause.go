package publishing

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// Cause describes why a broker has not accepted an event, in words of our own. The text of a library's error may quote
// what the broker answered, and so the texts in the event, or secrets of the URL.
func Cause(err error) string {
	var (
		name        *net.DNSError
		certificate *tls.CertificateVerificationError
		system      syscall.Errno
	)
	switch {
	case errors.As(err, &name):
		return "the broker's host name can't be resolved"
	case errors.As(err, &certificate):
		return "the broker's certificate is not trusted"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "no answer in time"
	case errors.As(err, &system):
		return "the connection failed: " + system.Error() // the operating system's words
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return fmt.Sprintf("no valid answer (%T)", err)
}
