// extra:whole

package lambdatest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
)

// Errors of an invocation.
var (
	ErrTimeout = errors.New("the environment was killed: its time was over")
	ErrExited  = errors.New("the environment ended during the invocation")
)

// Service starts environments of a function as they are needed, and stops each one that waits (SIGSTOP), as Lambda
// freezes them.
type Service struct {
	Path    string        // of the program
	Env     []string      // its complete environment
	Timeout time.Duration // of an invocation
	Output  io.Writer     // of all environments

	Cold   []time.Duration // from the start of each environment until it asked for its first invocation
	Memory int             // the most that an environment had resident, in KiB

	room   chan struct{} // of environments at the same time
	mu     sync.Mutex
	idle   []*environment
	busy   []*environment
	closed bool
	number int // of invocations
}

// NewService returns a service with so many environments at most. It ends with the test.
func NewService(t *testing.T, s *Service, environments int) *Service {
	s.room = make(chan struct{}, environments)
	t.Cleanup(func() {
		s.mu.Lock()
		all := slices.Concat(s.idle, s.busy)
		s.closed = true
		s.mu.Unlock()
		for _, e := range all {
			s.end(e)
		}
	})
	return s
}

// environment is a process, and the runtime API that it talks to.
type environment struct {
	process *exec.Cmd
	server  *http.Server
	exited  chan struct{}
	next    chan invocation // what its GET waits for
	waits   chan struct{}   // it asks for the next one
	answers chan answer
}

type invocation struct {
	id       string
	payload  []byte
	deadline time.Time
}

type answer struct {
	id   string
	body []byte
	err  error
}

// Invoke runs an invocation in an environment that waits, or a new one. It waits for room.
func (s *Service) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	select {
	case s.room <- struct{}{}:
		defer func() { <-s.room }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	e, err := s.take(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.number++
	asked := invocation{fmt.Sprint("request-", s.number), payload, time.Now().Add(s.Timeout)}
	s.mu.Unlock()
	over := time.NewTimer(s.Timeout)
	defer over.Stop()
	e.next <- asked
	select {
	case got := <-e.answers:
		if got.id != asked.id {
			got.err = fmt.Errorf("the answer to %s came for %s", got.id, asked.id)
		}
		s.put(e)
		return got.body, got.err
	case <-e.exited:
		s.end(e)
		return nil, ErrExited
	case <-over.C:
		s.end(e)
		return nil, ErrTimeout
	case <-ctx.Done():
		s.end(e)
		return nil, context.Cause(ctx)
	}
}

// take returns an environment that waits for an invocation.
func (s *Service) take(ctx context.Context) (*environment, error) {
	s.mu.Lock()
	var e *environment
	if last := len(s.idle) - 1; last >= 0 {
		e, s.idle = s.idle[last], s.idle[:last]
		s.busy = append(s.busy, e)
	}
	closed := s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return nil, errors.New("the service has ended")
	case e == nil:
		return s.start(ctx)
	}
	_ = e.process.Process.Signal(syscall.SIGCONT) // an error is seen as its end
	return e, nil
}

// put lets the environment wait, frozen.
func (s *Service) put(e *environment) {
	select {
	case <-e.waits:
	case <-e.exited:
		s.end(e)
		return
	case <-time.After(s.Timeout):
		s.end(e)
		return
	}
	_ = e.process.Process.Signal(syscall.SIGSTOP)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(e)
	s.idle = append(s.idle, e)
	s.Memory = max(s.Memory, resident(e.process.Process.Pid))
}

func (s *Service) remove(e *environment) {
	same := func(other *environment) bool { return other == e }
	s.busy, s.idle = slices.DeleteFunc(s.busy, same), slices.DeleteFunc(s.idle, same)
}

// end kills the environment.
func (s *Service) end(e *environment) {
	s.mu.Lock()
	s.remove(e)
	s.mu.Unlock()
	_ = e.process.Process.Kill()
	<-e.exited
	_ = e.server.Close()
}

// resident returns the most that a process had resident, in KiB; 0: it has ended.
func resident(pid int) (kib int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if _, line, found := strings.Cut(string(status), "VmHWM:"); found {
		_, _ = fmt.Sscan(line, &kib)
	}
	return kib
}

// Kill kills one of the environments that work with SIGKILL, and reports whether there was one.
func (s *Service) Kill(which int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.busy) == 0 {
		return false
	}
	return s.busy[which%len(s.busy)].process.Process.Kill() == nil
}

// Stop stops one of the environments that work (SIGSTOP), whose time will be over then.
func (s *Service) Stop(which int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.busy) == 0 {
		return false
	}
	return s.busy[which%len(s.busy)].process.Process.Signal(syscall.SIGSTOP) == nil
}

// start starts an environment, and returns when it asks for its first invocation.
func (s *Service) start(ctx context.Context) (*environment, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e := &environment{
		exited: make(chan struct{}), next: make(chan invocation, 1), waits: make(chan struct{}, 1), answers: make(chan answer, 1),
		process: exec.CommandContext(context.WithoutCancel(ctx), s.Path),
	}
	e.server = &http.Server{Handler: e.runtimeAPI(), ReadHeaderTimeout: time.Minute}
	go func() { _ = e.server.Serve(listener) }()
	e.process.Env = append(slices.Clone(s.Env), "AWS_LAMBDA_RUNTIME_API="+listener.Addr().String())
	e.process.Stdout, e.process.Stderr = s.Output, s.Output
	e.process.SysProcAttr = testenv.DieWithParent()
	began := time.Now()
	if err := e.process.Start(); err != nil {
		return nil, errors.Join(err, e.server.Close())
	}
	go func() { _ = e.process.Wait(); close(e.exited) }()
	const longestStart = 10 * time.Second // as on Lambda
	select {
	case <-e.waits:
	case <-e.exited:
		return nil, errors.Join(ErrExited, e.server.Close())
	case <-time.After(longestStart):
		s.end(e)
		return nil, ErrTimeout
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Cold = append(s.Cold, time.Since(began))
	s.busy = append(s.busy, e)
	return e, nil
}

// runtimeAPI is Lambda's interface for custom runtimes, version 2018-06-01.
func (e *environment) runtimeAPI() http.Handler {
	const path = "/2018-06-01/runtime"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+path+"/invocation/next", func(w http.ResponseWriter, r *http.Request) {
		e.waits <- struct{}{}
		select {
		case asked := <-e.next:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Lambda-Runtime-Aws-Request-Id", asked.id)
			w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(asked.deadline.UnixMilli(), 10))
			w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:000000000000:function:updater")
			_, _ = w.Write(asked.payload)
		case <-r.Context().Done():
		}
	})
	told := func(failed bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if failed {
				err = fmt.Errorf("the function failed: %s", body)
			}
			e.answers <- answer{r.PathValue("id"), body, err}
			w.WriteHeader(http.StatusAccepted)
		}
	}
	mux.HandleFunc("POST "+path+"/invocation/{id}/response", told(false))
	mux.HandleFunc("POST "+path+"/invocation/{id}/error", told(true))
	mux.HandleFunc("POST "+path+"/init/error", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	return mux
}
