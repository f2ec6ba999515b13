package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/tools/healthcheck/health"
)

// Program is a real program that a test can start, stop and kill repeatedly.
type Program struct {
	// URLs has one URL per address that the program listens on.
	URLs []string
	// Log is the file with the output of all runs.
	Log string

	path string
	env  []string // its complete environment: a developer's variables may point to a live system

	mutex sync.Mutex
	life  *exec.Cmd
}

// Build builds the packages' programs into the folder, as go build names them.
func Build(folder string, packages ...string) error {
	command := exec.CommandContext(context.Background(), "go", append([]string{"build", "-o", folder}, packages...)...)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, output)
	}
	return nil
}

// New prepares the named program in the folder binaries. It listens on a free port for each variable in addressVars,
// and ends with the test.
func New(t *testing.T, binaries, name string, env []string, addressVars ...string) *Program {
	p := &Program{path: filepath.Join(binaries, name), env: env, Log: filepath.Join(t.TempDir(), name+".log")}
	for _, variable := range addressVars {
		address := fmt.Sprintf("127.0.0.1:%d", testenv.FreePort(t))
		p.env = append(p.env[:len(p.env):len(p.env)], variable+"="+address)
		p.URLs = append(p.URLs, "http://"+address)
	}
	t.Cleanup(func() {
		p.Kill(t)
		if t.Failed() {
			p.showLog(t)
		}
	})
	return p
}

// Set sets variables, such as "NAME=value", for the next start.
func (p *Program) Set(variables ...string) {
	p.env = append(p.env[:len(p.env):len(p.env)], variables...)
}

// Start returns when the program is ready.
func (p *Program) Start(t *testing.T) {
	t.Helper()
	output, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = output.Close() }()
	life := exec.CommandContext(context.WithoutCancel(t.Context()), p.path)
	life.Env = p.env
	life.Stdout, life.Stderr = output, output
	life.SysProcAttr = testenv.DieWithParent()
	if err := life.Start(); err != nil {
		t.Fatal(err)
	}
	p.mutex.Lock()
	p.life = life
	p.mutex.Unlock()
	for _, url := range p.URLs {
		testenv.Eventually(t, 60*time.Second, func() error { return health.Check(t.Context(), url+"/health/ready") })
	}
}

// Kill ends the program with SIGKILL.
func (p *Program) Kill(t *testing.T) {
	t.Helper()
	_ = p.end(t, syscall.SIGKILL) // the error is about the kill
}

// Stop ends the program with SIGTERM and checks that it exits cleanly.
func (p *Program) Stop(t *testing.T) {
	t.Helper()
	if err := p.end(t, syscall.SIGTERM); err != nil {
		t.Errorf("%s did not exit cleanly: %v", p.path, err)
	}
}

func (p *Program) end(t *testing.T, signal syscall.Signal) error {
	t.Helper()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.life == nil {
		return nil
	}
	if err := p.life.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("end %s: %v", p.path, err)
	}
	err := p.life.Wait()
	p.life = nil
	return err
}

func (p *Program) showLog(t *testing.T) {
	content, err := os.ReadFile(p.Log)
	if err != nil {
		t.Logf("%s: %v", p.path, err)
		return
	}
	const most = 8000
	if len(content) > most {
		content = content[len(content)-most:]
	}
	t.Logf("the last output of %s:\n%s", p.path, content)
}

// PID returns the running program's process id.
func (p *Program) PID(t *testing.T) int {
	t.Helper()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.life == nil {
		t.Fatalf("%s does not run", p.path)
	}
	return p.life.Process.Pid
}
