// Package launch starts programs, waits until they are ready, and stops them again.
//
// A program is started in one of two ways. Attached: it ends with this process, even if this process is killed
// (services for a test run). In the background: it outlives this process, with a log and a pid file, by which later
// processes find it (the development system).
//
// It knows nothing of databases; package services does. It needs Linux or macOS.
package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Progress tells the user in one line what is being done.
type Progress func(format string, args ...any)

// Program describes how to start a program and how to detect that it is ready.
type Program struct {
	Name string // in messages and in the names of its log and pid files
	// Mark is a part of the command line that no other program on this machine has, such as the data folder. It is
	// needed because process ids are reused.
	Mark string
	Port int      // on 127.0.0.1
	Env  []string // replaces this process's environment, unless nil
	// Prepare installs or builds the program, creates its data folder, and returns its command line: an absolute path
	// and arguments. It is called only before the program is started.
	Prepare func(ctx context.Context) (argv []string, err error)
	// Ready returns nil when the program serves. It is called repeatedly, for StartTimeout at most.
	Ready func(ctx context.Context) error
	// Advice for the user if another program uses the port, and if the program does not become ready. May be "".
	PortAdvice, Advice string
}

// StartTimeout limits the wait for a program to become ready.
const StartTimeout = 90 * time.Second

const readyInterval = 50 * time.Millisecond

var errEnded = errors.New("ended before it was ready")

// awaitReady polls until the program is ready. When alive returns false, it fails with the end of the log.
func (p Program) awaitReady(ctx context.Context, alive func() bool, logFile string) error {
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	ticker := time.NewTicker(readyInterval)
	defer ticker.Stop()
	for {
		err := p.Ready(ctx)
		switch {
		case !alive(): // another program has answered
			return fmt.Errorf("%s %w; the end of %s:\n%s%s", p.Name, errEnded, logFile, tail(logFile), p.Advice)
		case err == nil:
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready (%w; %w); the end of %s:\n%s%s",
				p.Name, context.Cause(ctx), err, logFile, tail(logFile), p.Advice)
		case <-ticker.C:
		}
	}
}

// portTimeout limits how long a port may stay in use after its process has ended: the system removes the command line
// first, and closes the sockets after freeing the memory.
const portTimeout = 5 * time.Second

// awaitPort waits until the program's port is free.
func (p Program) awaitPort(ctx context.Context, progress Progress) error {
	deadline := time.Now().Add(portTimeout)
	ticker := time.NewTicker(readyInterval)
	defer ticker.Stop()
	for told := false; PortTaken(ctx, p.Port); told = true {
		if !told {
			progress("%s waits for port %d, which is still in use", p.Name, p.Port)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s cannot start: another program listens on port %d; stop it, or %s", p.Name, p.Port, p.PortAdvice)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
	return nil
}

// PortTaken reports whether a program listens on this port of 127.0.0.1.
func PortTaken(ctx context.Context, port int) bool {
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

const tailBytes = 4096

func tail(file string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	if len(content) > tailBytes {
		content = content[len(content)-tailBytes:]
		if _, rest, found := strings.Cut(string(content), "\n"); found {
			return rest
		}
	}
	return string(content)
}
