package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// runningSystem is the running system, in one process or several.
type runningSystem struct {
	writeAddress, readAddress string
	data                      string // the standalone program's folder
	token                     string // of the clients; empty: no token is needed
	processes                 []*exec.Cmd
	ended                     sync.Once
}

const startTimeout = 60 * time.Second

// start starts the standalone program with its data in the lab's folder.
func (l *lab) start(ctx context.Context, env ...string) (*runningSystem, error) {
	addresses, err := freeAddresses(ctx, 4)
	if err != nil {
		return nil, err
	}
	s := &runningSystem{writeAddress: addresses[0], readAddress: addresses[1], data: filepath.Join(l.folder, "data")}
	env = append(env, "DATA_DIR="+s.data, "WRITE_API_ADDR="+addresses[0], "READ_API_ADDR="+addresses[1], "UPDATER_ADDR="+addresses[2],
		"WEB_ADDR="+addresses[3])
	if err := s.launch(l, "standalone", env); err != nil {
		return nil, err
	}
	return s, s.waitUntilReady(ctx) // which stops it if it fails
}

// unreached are limits on requests a second that the load does not reach, which comes from one address, account and
// tenant.
var unreached = []string{"RATE_LIMIT_ADDRESS=1000000", "RATE_LIMIT_ACCOUNT=1000000", "RATE_LIMIT_TENANT=1000000"}

// launch starts a program.
func (s *runningSystem) launch(l *lab, name string, env []string) error {
	process, err := l.launch(name, env)
	if err == nil {
		s.processes = append(s.processes, process)
	}
	return err
}

// launch starts a program as shipped, with its output in a file.
func (l *lab) launch(name string, env []string, args ...string) (*exec.Cmd, error) {
	process := exec.CommandContext(context.Background(), filepath.Join(l.binaries, name), args...)
	log, err := os.OpenFile(filepath.Join(l.folder, strings.Join(append([]string{name}, args...), "-")+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	process.Stdout, process.Stderr = log, log
	process.Env = slices.Concat(os.Environ(), []string{"READ_WAIT_TIMEOUT=8s"}, unreached, env)
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is only for bench, which stops the programs
	return process, process.Start()
}

// stop ends the programs, the last started first.
func (s *runningSystem) stop() {
	s.ended.Do(func() {
		for _, process := range slices.Backward(s.processes) {
			_ = process.Process.Signal(syscall.SIGTERM)
			_ = process.Wait()
		}
	})
}

func (s *runningSystem) waitUntilReady(ctx context.Context) error {
	var missing error
	err := until(ctx, startTimeout, 2*time.Millisecond, func(ctx context.Context) (bool, error) {
		missing = nil
		for _, address := range []string{s.writeAddress, s.readAddress} {
			_, failed := get(ctx, "http://"+address+"/health/ready")
			missing = errors.Join(missing, failed)
		}
		return missing == nil, nil
	})
	if err != nil {
		s.stop()
		return fmt.Errorf("the programs are not ready: %w", missing)
	}
	return nil
}

// answer is the answer to a command.
type answer struct {
	Thread  string `json:"thread_id"`
	Message string `json:"message_id"`
	Version int    `json:"version"`
}

func (s *runningSystem) createThread(ctx context.Context, user, name string) (string, error) {
	var created answer
	err := s.call(ctx, "/threads/create", map[string]any{"executor_id": user, "name": name}, &created)
	return created.Thread, err
}

// call sends a command that is not measured.
func (s *runningSystem) call(ctx context.Context, path string, body, result any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.writeAddress+path, bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	text, err := answerTo(request)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, result)
}

// get returns the answer to a GET.
func get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	return answerTo(request)
}

// answerTo returns the body of an answer, which must be one of success.
func answerTo(request *http.Request) ([]byte, error) {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s answers %s: %s", request.URL, response.Status, text)
	}
	return text, err
}

// freeAddresses returns loopback addresses with free ports.
func freeAddresses(ctx context.Context, count int) ([]string, error) {
	var addresses []string
	for range count {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = listener.Close() }()
		addresses = append(addresses, listener.Addr().String())
	}
	return addresses, nil
}
