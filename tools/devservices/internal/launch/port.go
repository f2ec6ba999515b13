package launch

import (
	"context"
	"net"
	"strconv"
	"time"
)

// PortTaken tells whether somebody listens on this port of 127.0.0.1.
func PortTaken(ctx context.Context, port int) bool {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
