package testenv

import (
	"net"
	"sync"
	"testing"
)

// Accept listens on loopback until the test ends, hands each connection to serve in a goroutine of its own, and returns
// the address. The test ends when all of them have returned.
func Accept(t testing.TB, serve func(net.Conn)) (address string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { serve(connection) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		serving.Wait()
	})
	return listener.Addr().String()
}
