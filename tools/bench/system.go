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
	writeURL, readURL string
	http              *http.Client
	process           *exec.Cmd
	ended             sync.Once
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
		writeURL: "http://" + addresses[0],
		readURL:  "http://" + addresses[1],
		http:     http.DefaultClient,
		process:  exec.CommandContext(ctx, binary),
	}
	log, err := os.Create(filepath.Join(folder, "standalone.log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	s.process.Stdout, s.process.Stderr = log, log
	s.process.Env = append(os.Environ(), "DATA_DIR="+filepath.Join(folder, "data"), "LOG_LEVEL=warn",
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

func (s *system) waitUntilReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		var missing error
		for _, url := range []string{s.writeURL, s.readURL} {
			missing = errors.Join(missing, s.call(ctx, http.MethodGet, url+"/health/ready", nil, nil, nil))
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

func (s *system) post(ctx context.Context, path string, body map[string]any) (answer, error) {
	var a answer
	err := s.call(ctx, http.MethodPost, s.writeURL+path, body, nil, &a)
	return a, err
}

// see returns when GraphQL shows the message.
func (s *system) see(ctx context.Context, user string, posted answer) error {
	query := map[string]any{
		"query":     `query($message: ID!, $viewer: ID!) { getMessage(messageId: $message, userAccountId: $viewer) { id } }`,
		"variables": map[string]any{"message": posted.Message, "viewer": user},
	}
	header := map[string]string{"Consistency-Token": fmt.Sprintf("%s:%d", posted.Thread, posted.Version)}
	var shown struct {
		Errors []struct{ Message string }
	}
	err := s.call(ctx, http.MethodPost, s.readURL+"/graphql", query, header, &shown)
	if err == nil && len(shown.Errors) > 0 {
		err = errors.New(shown.Errors[0].Message)
	}
	return err
}

func (s *system) call(ctx context.Context, method, url string, body any, header map[string]string, result any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	for key, value := range header {
		request.Header.Set(key, value)
	}
	response, err := s.http.Do(request)
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
