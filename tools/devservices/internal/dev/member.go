package dev

import (
	"context"
	"fmt"
	"time"

	"example.com/threads/tools/devservices/internal/launch"
)

// member is one process of the development system.
type member struct {
	known launch.Program // enough to find it and to see that it is ready
	port  int
	// startable completes known when it has to be started: by then its program is installed or built.
	startable func(ctx context.Context) (launch.Program, error)
	hint      string // what to do when the port is taken
}

// ensure starts the member unless it runs, and returns when it is ready.
func (m Manager) ensure(ctx context.Context, member member) error {
	name := member.known.Name
	pid, err := m.background().Running(member.known)
	if err != nil {
		return err
	}
	if pid != 0 {
		m.Progress("%s runs already (pid %d)", name, pid)
		return m.background().AwaitReady(ctx, member.known)
	}
	if launch.PortTaken(ctx, member.port) {
		return fmt.Errorf("%s cannot start: another program listens on port %d; stop it, or %s", name, member.port, member.hint)
	}
	program, err := member.startable(ctx)
	if err != nil {
		return err
	}
	m.Progress("starting %s on port %d", name, member.port)
	begin := time.Now()
	if err := m.background().Start(ctx, program); err != nil {
		return err
	}
	m.Progress("%s is ready after %.1fs", name, time.Since(begin).Seconds())
	return nil
}
