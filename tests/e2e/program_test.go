package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/threads/tests/testenv"
)

// program is one of the real programs, which a test may start, stop and kill as often as it likes.
type program struct {
	name string
	env  []string // all that it sees: what a developer has exported may name a system that is in use
	urls []string // one for each address that it listens on
	log  string   // its output, of all its lives

	mutex sync.Mutex
	life  *exec.Cmd
}

// newProgram prepares a program that listens on a free port for each of the variables that name its addresses.
func newProgram(t *testing.T, name string, env []string, addressVars ...string) *program {
	p := &program{name: name, env: env, log: filepath.Join(t.TempDir(), name+".log")}
	for _, variable := range addressVars {
		address := fmt.Sprintf("127.0.0.1:%d", testenv.FreePort(t))
		p.env = append(p.env[:len(p.env):len(p.env)], variable+"="+address)
		p.urls = append(p.urls, "http://"+address)
	}
	t.Cleanup(func() {
		p.kill(t)
		if t.Failed() {
			p.showLog(t)
		}
	})
	return p
}

// start returns when the program is ready.
func (p *program) start(t *testing.T) {
	t.Helper()
	output, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = output.Close() }()
	life := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(binaries, p.name))
	life.Env = p.env
	life.Stdout, life.Stderr = output, output
	life.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := life.Start(); err != nil {
		t.Fatal(err)
	}
	p.mutex.Lock()
	p.life = life
	p.mutex.Unlock()
	for _, url := range p.urls {
		testenv.Eventually(t, 60*time.Second, func() error { return ready(t, url) })
	}
}

func ready(t *testing.T, url string) error {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/health/ready", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s/health/ready answers %s", url, response.Status)
	}
	return nil
}

// kill ends the program as a power cut would.
func (p *program) kill(t *testing.T) {
	t.Helper()
	_ = p.end(t, syscall.SIGKILL) // that it was killed
}

// stop ends the program as an operator would, and checks that it ended in order.
func (p *program) stop(t *testing.T) {
	t.Helper()
	if err := p.end(t, syscall.SIGTERM); err != nil {
		t.Errorf("%s did not stop in order: %v", p.name, err)
	}
}

func (p *program) end(t *testing.T, signal syscall.Signal) error {
	t.Helper()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.life == nil {
		return nil
	}
	if err := p.life.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("end %s: %v", p.name, err)
	}
	err := p.life.Wait()
	p.life = nil
	return err
}

func (p *program) showLog(t *testing.T) {
	content, err := os.ReadFile(p.log)
	if err != nil {
		t.Logf("%s: %v", p.name, err)
		return
	}
	const most = 8000
	if len(content) > most {
		content = content[len(content)-most:]
	}
	t.Logf("the end of what %s said:\n%s", p.name, content)
}
