package testservices

import (
	"context"
	"fmt"
	"net"

	"example.com/threads/tools/devservices/internal/launch"
)

// service is one service of a run: started when running is not nil.
type service struct {
	variable string
	start    func(ctx context.Context, folder string) (*launch.Attached, string, error)
	running  *launch.Attached
	address  string
}

func (s *service) run(ctx context.Context, folder string) (err error) {
	s.running, s.address, err = s.start(ctx, folder)
	return err
}

func (s *service) stop() {
	if s.running != nil {
		s.running.Stop()
	}
}

const attempts = 3

// onFreePort starts a program on a port that was free a moment ago, and on another one when somebody
// else was quicker.
func (r Runner) onFreePort(
	ctx context.Context, folder string, on func(port int) (launch.Program, string),
) (running *launch.Attached, address string, err error) {
	for range attempts {
		var port int
		if port, err = freePort(ctx); err != nil {
			return nil, "", err
		}
		var program launch.Program
		program, address = on(port)
		running, err = launch.StartAttached(ctx, r.Guard, program, folder)
		if err == nil || ctx.Err() != nil || !launch.PortTaken(ctx, port) {
			break
		}
	}
	return running, address, err
}

func freePort(ctx context.Context) (int, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
