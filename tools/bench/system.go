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
	"sync"
	"syscall"
	"time"
)

// system is the running program.
type system struct {
	writeAddress, readAddress string
	data                      string // folder of its files
	process                   *exec.Cmd
	ended                     sync.Once
}

const startTimeout = 30 * time.Second

// start builds the program and starts it with its data in folder.
func start(ctx context.Context, folder string) (*system, error) {
	binary := filepath.Join(folder, "standalone")
	if output, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/standalone").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build cmd/standalone: %w\n%s", err, output)
	}
	addresses, err := freeAddresses(ctx, 3)
	if err != nil {
		return nil, err
	}
	s := &system{
		writeAddress: addresses[0],
		readAddress:  addresses[1],
		data:         filepath.Join(folder, "data"),
		process:      exec.CommandContext(ctx, binary),
	}
	log, err := os.Create(filepath.Join(folder, "standalone.log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	s.process.Stdout, s.process.Stderr = log, log
	s.process.Env = append(os.Environ(), "DATA_DIR="+s.data, "LOG_LEVEL=warn",
		"WRITE_API_ADDR="+addresses[0], "READ_API_ADDR="+addresses[1], "UPDATER_ADDR="+addresses[2])
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	if err := s.waitUntilReady(ctx); err != nil {
		s.stop()
		output, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("%w; it said:\n%s", err, output)
	}
	return s, nil
}

func (s *system) stop() {
	s.ended.Do(func() {
		_ = s.process.Process.Signal(syscall.SIGTERM)
		_ = s.process.Wait()
	})
}

// cpu is the processor time that the program has used, from its start to its stop.
func (s *system) cpu() time.Duration {
	return s.process.ProcessState.UserTime() + s.process.ProcessState.SystemTime()
}

func (s *system) waitUntilReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		var missing error
		for _, address := range []string{s.writeAddress, s.readAddress} {
			missing = errors.Join(missing, call(ctx, http.MethodGet, "http://"+address+"/health/ready", nil, nil))
		}
		if missing == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("the program is not ready: %w", missing)
		}
	}
}

// answer is what a command is answered with.
type answer struct {
	Thread  string `json:"thread_id"`
	Message string `json:"message_id"`
	Version int    `json:"version"`
}

func (s *system) createThread(ctx context.Context, user, name string) (string, error) {
	var created answer
	err := call(ctx, http.MethodPost, "http://"+s.writeAddress+"/threads/create", map[string]any{"executor_id": user, "name": name}, &created)
	return created.Thread, err
}

// call is for what is not measured.
func call(ctx context.Context, method, url string, body, result any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return err
	case response.StatusCode/100 != 2:
		return fmt.Errorf("%s answers %s: %s", url, response.Status, text)
	case result == nil:
		return nil
	}
	return json.Unmarshal(text, result)
}

// freeAddresses are loopback addresses that nobody listens on.
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
