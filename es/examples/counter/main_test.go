package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/threads/es/estest"
	"example.com/threads/es/estest/testenv"
)

// TestMain runs the program instead of the tests when a test has started it.
func TestMain(m *testing.M) {
	if os.Getenv("COUNTER_PROGRAM") != "" {
		main()
		return
	}
	testenv.Main(m)
}

func TestRules(t *testing.T) {
	estest.Given(counters).When(Add{3}).Then(t, Added{3})
	estest.Given(counters, Added{3}).When(Add{-3}).Then(t, Added{-3})
	estest.Given(counters, Added{3}).When(Add{-5}).Rejects(t, "below_zero")
}

// program is the running program, at its current address.
type program struct {
	file    string
	command *exec.Cmd
	url     atomic.Value
}

func (p *program) start(t *testing.T) {
	t.Helper()
	p.command = exec.CommandContext(t.Context(), os.Args[0], "-file", p.file, "-address", "127.0.0.1:0")
	p.command.Env = append(os.Environ(), "COUNTER_PROGRAM=1")
	p.command.Stderr = t.Output()
	output, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	p.url.Store(strings.TrimSpace(strings.TrimPrefix(line, "listening on ")))
}

// kill ends the program as kill -9 does.
func (p *program) kill(t *testing.T) {
	t.Helper()
	if err := p.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.command.Wait() // says that it was killed
}

type reply struct {
	Version  uint64
	Value    int
	Repeated bool
	Error    string
}

func (p *program) ask(ctx context.Context, method, path, key string) (got reply, err error) {
	request, err := http.NewRequestWithContext(ctx, method, p.url.Load().(string)+path, http.NoBody)
	if err != nil {
		return got, err
	}
	request.Header.Set("Idempotency-Key", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return got, err
	}
	defer response.Body.Close()
	err = json.NewDecoder(response.Body).Decode(&got)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status + ": " + got.Error)
	}
	return got, err
}

const counter = "/counters/01H42K4ABWQ5V2XQEP3A48VE0"

// Several clients add to shared counters while the program is killed and started again. Each repeats a request with its
// key until it has the answer. Afterwards each counter shows each request once, and each version was given once.
func TestNothingIsLostOrDoubledByKill(t *testing.T) {
	const clients, requests, shared, kills = 8, 60, 3, 4
	p := &program{file: filepath.Join(t.TempDir(), "counter.db")}
	p.start(t)
	var answered, repeated atomic.Int64
	var versions sync.Map
	var working sync.WaitGroup
	for client := range clients {
		working.Go(func() {
			for number := range requests {
				path := fmt.Sprint(counter, (client+number)%shared)
				key := fmt.Sprint(client, "-", number)
				got, err := p.ask(t.Context(), http.MethodPost, path+"/add?by=1", key)
				for err != nil && t.Context().Err() == nil {
					<-time.After(5 * time.Millisecond)
					got, err = p.ask(t.Context(), http.MethodPost, path+"/add?by=1", key)
				}
				if other, given := versions.LoadOrStore(fmt.Sprint(path, got.Version), key); given {
					t.Errorf("%s and %s got version %d of %s", other, key, got.Version, path)
				}
				if got.Repeated {
					repeated.Add(1)
				}
				answered.Add(1)
			}
		})
	}
	for kill := range kills {
		testenv.Eventually(t, time.Minute, func() error {
			if answered.Load() < int64((kill+1)*clients*requests/(kills+2)) {
				return errors.New("too few answers")
			}
			return nil
		})
		p.kill(t)
		p.start(t)
	}
	working.Wait()
	p.kill(t)
	p.start(t)
	for i := range shared {
		want := clients * requests / shared
		got, err := p.ask(t.Context(), http.MethodGet, fmt.Sprintf("%s%d?version=%d", counter, i, want), "")
		if err != nil || got.Value != want || got.Version != uint64(want) {
			t.Errorf("counter %d shows %+v, %v, not %d", i, got, err, want)
		}
	}
	t.Logf("%d requests, %d of them were handled before the kill that took their answers", answered.Load(), repeated.Load())
	p.kill(t)
}

func TestAnswers(t *testing.T) {
	p := &program{file: filepath.Join(t.TempDir(), "counter.db")}
	p.start(t)
	defer p.kill(t)
	for _, c := range []struct{ method, path, key, want string }{
		{http.MethodPost, counter + "Z/add?by=3", "a", "version 1"},
		{http.MethodPost, counter + "Z/add?by=3", "a", "version 1, repeated"},
		{http.MethodPost, counter + "Z/add?by=4", "a", "422"},
		{http.MethodPost, counter + "Z/add?by=-4", "b", "409"},
		{http.MethodPost, counter + "Z/add?by=many", "c", "400"},
		{http.MethodPost, "/counters/7/add?by=1", "d", "400"},
		{http.MethodGet, counter + "Z?version=1", "", "version 1, value 3"},
		{http.MethodGet, counter + "Y", "", "version 0"},
	} {
		got, err := p.ask(t.Context(), c.method, c.path, c.key)
		text := fmt.Sprint("version ", got.Version)
		if got.Repeated {
			text += ", repeated"
		}
		if got.Value != 0 {
			text += fmt.Sprint(", value ", got.Value)
		}
		if err != nil {
			text = err.Error()[:3]
		}
		if text != c.want {
			t.Errorf("%s %s: %s, %v, want %s", c.method, c.path, text, err, c.want)
		}
	}
}
