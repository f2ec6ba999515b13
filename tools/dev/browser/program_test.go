package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const root = "../../.."

var binaries string // folder of the program under test

func TestMain(m *testing.M) {
	if flag.Parse(); testing.Short() {
		fmt.Println("left out by -short: it runs a browser")
		return
	}
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "threads-browser-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(folder) }()
		binaries = folder
		lastPort.Store(int64(os.Getpid()) * 97) // tests of another process at the same time take other ports
		// Build as make run does.
		if err := build("-tags=lab", "./cmd/standalone"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { endShared() }()
		return m.Run()
	}())
}

// build builds programs into the folder of those under test.
func build(args ...string) error {
	command := exec.CommandContext(context.Background(), "go", append([]string{"build", "-o", binaries}, args...)...)
	command.Dir = root
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, output)
	}
	return nil
}

// program is a program with its own addresses and data. By default it is the whole system in one process.
type program struct {
	t       *testing.T
	name    string
	url     string   // of the page
	answers []string // paths that answer once it is ready
	env     []string
	life    *exec.Cmd
	output  string
}

// start runs the program until the test ends.
func start(t *testing.T, more ...string) *program {
	t.Helper()
	page := freeAddress(t)
	return run(t, "standalone", page, allReady, append([]string{
		"DATA_DIR=" + t.TempDir(), "WEB_ADDR=" + page, "WRITE_API_ADDR=" + freeAddress(t), "READ_API_ADDR=" + freeAddress(t),
		"UPDATER_ADDR=" + freeAddress(t), "AUTH_DEV_ADDR=" + freeAddress(t),
	}, more...))
}

// allReady are the paths at the page that answer once all programs are ready.
var allReady = []string{"/health/ready", "/api/read/health/ready", "/api/write/health/ready"}

// run runs a program until the test ends.
func run(t *testing.T, name, address string, answers, env []string) *program {
	t.Helper()
	p := &program{
		t: t, name: name, url: "http://" + address, answers: answers, env: append([]string{"PATH=" + os.Getenv("PATH")}, env...),
		output: filepath.Join(t.TempDir(), "output"),
	}
	t.Cleanup(func() {
		p.end(syscall.SIGKILL)
		if t.Failed() {
			said, _ := os.ReadFile(p.output)
			t.Logf("the output of %s:\n%s", name, said)
		}
	})
	p.begin()
	return p
}

func (p *program) begin() {
	p.t.Helper()
	output, err := os.OpenFile(p.output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = output.Close() }()
	p.life = exec.CommandContext(context.WithoutCancel(p.t.Context()), filepath.Join(binaries, p.name))
	p.life.Env, p.life.Stdout, p.life.Stderr = p.env, output, output
	p.life.SysProcAttr = new(syscall.SysProcAttr)
	if signal := reflect.ValueOf(p.life.SysProcAttr).Elem().FieldByName("Pdeathsig"); signal.IsValid() { // not on macOS
		signal.SetInt(int64(syscall.SIGKILL)) // when this process ends
	}
	if err := p.life.Start(); err != nil {
		p.t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for err := p.ready(); err != nil; err = p.ready() {
		if time.Now().After(deadline) {
			p.t.Fatalf("the program is not ready: %v", err)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-p.t.Context().Done():
		}
	}
}

func (p *program) ready() error {
	for _, path := range p.answers {
		request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.url+path, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return errors.New(path + " answers " + response.Status)
		}
	}
	return nil
}

// send sends a command past the page, as curl does, and returns the answer.
func send(t *testing.T, s *program, path string, body map[string]any) map[string]any {
	t.Helper()
	answer, err := s.order(t.Context(), path, body)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// order is send for goroutines, which must not end the test.
func (p *program) order(ctx context.Context, path string, body map[string]any) (answer map[string]any, err error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url+"/api/write"+path, bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("%s: %s %w", path, response.Status, err)
	}
	if response.StatusCode >= 300 {
		return nil, fmt.Errorf("%s: %s %v", path, response.Status, answer)
	}
	return answer, nil
}

func (p *program) end(signal os.Signal) {
	if p.life == nil {
		return
	}
	_ = p.life.Process.Signal(signal)
	_ = p.life.Wait()
	p.life = nil
}

func freeAddress(t *testing.T) string {
	t.Helper()
	for range mostPorts {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+lastPort.Add(1)%mostPorts)
		if listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address); err == nil {
			_ = listener.Close()
			return address
		}
	}
	t.Fatal("no free port was found")
	return ""
}

// Ports that the system gives to no connection: it begins at 32,768.
const firstPort, mostPorts = 30_000, 2000

var lastPort atomic.Int64
