package launch

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// Program says how to start a program and how to see that it is ready.
type Program struct {
	Name string   // in messages and in the names of its log and pid files
	Argv []string // an absolute path and the arguments
	Env  []string // in place of this process's environment, unless nil
	// Mark is a part of the command line that no other program on this machine has, such as the
	// folder of its data: a process id alone may have passed on to a stranger.
	Mark string
	// Before, unless nil, prepares what the program needs, such as the folder of its data. It runs
	// only when the program is going to be started.
	Before func(ctx context.Context) error
	// Ready returns nil once the program serves. It is called until then, or until StartTimeout.
	Ready func(ctx context.Context) error
}

// StartTimeout bounds the wait for a program that was started to become ready.
const StartTimeout = 90 * time.Second

const readyInterval = 50 * time.Millisecond

func (p Program) prepare(ctx context.Context) error {
	if p.Before == nil {
		return nil
	}
	return p.Before(ctx)
}

// awaitReady polls until the program is ready. It fails early when the program ends first, and
// shows the end of its log then.
func (p Program) awaitReady(ctx context.Context, ended <-chan struct{}, logFile string) error {
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	ticker := time.NewTicker(readyInterval)
	defer ticker.Stop()
	for {
		err := p.Ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return fmt.Errorf("%s ended while starting; the end of %s:\n%s", p.Name, logFile, tail(logFile))
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready (%w; %w); the end of %s:\n%s",
				p.Name, context.Cause(ctx), err, logFile, tail(logFile))
		case <-ticker.C:
		}
	}
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
