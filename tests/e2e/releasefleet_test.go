package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/programs"
	"example.com/threads/tools/healthcheck/health"
)

// fleet is the programs of two releases over one store. Clients choose among those that are there.
type fleet struct {
	env          []string
	former, next string      // folders of programs
	dares        atomic.Bool // clients may begin to use what only the next release has
	replayed     atomic.Int64
	refusals     tally
	functions    *functions // in the place of updaters; nil: there are none

	mutex sync.Mutex
	ran   map[string]*programs.Program // by release and name; each keeps its address
	there []listening
}

type listening struct{ release, name, url string }

const updater = "read-model-updater"

var addressVars = map[string]string{"write-api": "WRITE_API_ADDR", updater: "UPDATER_ADDR", "read-api": "READ_API_ADDR"}

// onLambda reports whether a program is a function.
func (f *fleet) onLambda(name string) bool { return name == updater && f.functions != nil }

func (f *fleet) start(t *testing.T, release string, names ...string) {
	t.Helper()
	for _, name := range names {
		if f.onLambda(name) {
			f.functions.start(t, release)
			continue
		}
		p := f.ran[release+name]
		if p == nil {
			p = programs.New(t, release, name, f.env, addressVars[name])
			f.ran[release+name] = p
		}
		p.Start(t)
		f.mutex.Lock()
		f.there = append(f.there, listening{release, name, p.URLs[0]})
		f.mutex.Unlock()
	}
}

// stop ends a program while clients still send requests to it.
func (f *fleet) stop(t *testing.T, release, name string) {
	t.Helper()
	if f.onLambda(name) {
		f.functions.stop(release)
		return
	}
	f.ran[release+name].Stop(t)
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.there = slices.DeleteFunc(f.there, func(l listening) bool { return l.release == release && l.name == name })
}

func (f *fleet) mustBeReady(t *testing.T, release string) {
	t.Helper()
	for name := range addressVars {
		if f.onLambda(name) {
			continue // it has no address
		}
		if err := health.Check(t.Context(), f.ran[release+name].URLs[0]+"/health/ready"); err != nil {
			t.Errorf("%s of %s: %v", name, release, err)
		}
	}
}

func (f *fleet) crash(t *testing.T, release, name string) {
	t.Helper()
	if f.onLambda(name) {
		f.functions.crash(t, release)
		return
	}
	f.ran[release+name].Kill(t)
	f.ran[release+name].Start(t)
}

// url returns the URL of one of the programs with the name; of the next release alone, or of any. Empty: there is none.
func (f *fleet) url(name string, nextOnly bool) (url, release string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	var able []listening
	for _, l := range f.there {
		if l.name == name && (l.release == f.next || !nextOnly) {
			able = append(able, l)
		}
	}
	if len(able) == 0 {
		return "", ""
	}
	l := able[rand.IntN(len(able))]
	release = "former"
	if l.release == f.next {
		release = "next"
	}
	return l.url, release
}

// run runs a program of a release to its end.
func (f *fleet) run(t *testing.T, release, name string, wantCode int, args ...string) {
	t.Helper()
	if output, problem, code := runProgram(t, filepath.Join(release, name), f.env, args...); code != wantCode {
		t.Fatalf("%s %s of %s: exit code %d, want %d\n%s\n%s", name, strings.Join(args, " "), release, code, wantCode, output, problem)
	}
}

// checkJournal finds nothing wrong but what a killed write-api leaves: a snapshot that the head does not point to yet.
func (f *fleet) checkJournal(t *testing.T) {
	t.Helper()
	output, problem, _ := runProgram(t, filepath.Join(f.next, "threadctl"), f.env, "journal", "check", "--json")
	var told struct {
		Checked  int
		Findings []finding
	}
	if err := json.Unmarshal([]byte(output), &told); err != nil || told.Checked == 0 {
		t.Fatalf("journal check: %v\n%s\n%s", err, output, problem)
	}
	for _, found := range told.Findings {
		if found.Kind != "snapshot_pointer" {
			t.Fatalf("journal check finds:\n%s", output)
		}
	}
}

// health is what an updater tells of itself, or what can be known of a function.
func (f *fleet) health(t *testing.T, release string) (found struct {
	Active   bool
	Behind   float64 `json:"behind_seconds"`
	Parked   int     `json:"parked_aggregates"`
	Warnings []string
}) {
	t.Helper()
	if f.onLambda(updater) {
		found.Active = f.functions.active(release)
		if f.functions.mapping.Waiting() > 0 {
			found.Behind = math.Inf(1)
		}
		if _, _, code := runProgram(t, filepath.Join(release, "threadctl"), f.env, "dead-letters", "list"); code != allIsWell {
			found.Parked = 1
		}
		return found
	}
	answer := get(t, f.ran[release+updater].URLs[0]+"/health/ready")
	if err := json.Unmarshal([]byte(answer), &found); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	return found
}

// settled waits until an updater has projected all that was written before the call.
func (f *fleet) settled(t *testing.T, release string) {
	t.Helper()
	began := time.Now()
	testenv.Eventually(t, 30*time.Second, func() error {
		since := time.Since(began).Seconds()
		if now := f.health(t, release); since < 1 || now.Behind > since {
			return fmt.Errorf("%+v", now)
		}
		return nil
	})
}

// tally counts what programs have refused for now.
type tally struct {
	mutex  sync.Mutex
	counts map[string]int
}

func (c *tally) add(what string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	c.counts[what]++
}

func (c *tally) String() string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return fmt.Sprint(c.counts)
}

// wrong is an error about an answer; err is that of the connection, if there is one.
func (a answer) wrong(err error) error {
	return errors.Join(fmt.Errorf("answered %d %s", a.status, a.raw), err)
}

// command sends a command with a key until it is decided: to any write-api, or to one of the next release alone. What
// the client may have to repeat is an error of the connection, 5xx and concurrent_update.
func (f *fleet) command(ctx context.Context, path string, body fields, key string, nextOnly bool) (a answer, err error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return a, err
	}
	for ctx.Err() == nil {
		if url, release := f.url("write-api", nextOnly); url != "" {
			a, err = send(ctx, url+path, encoded, headers{"X-Tenant-Code": "acme", "Idempotency-Key": key})
			if err == nil && a.status < 500 && a.text("code") != "concurrent_update" {
				return a, nil
			}
			if err == nil {
				f.refusals.add(release + " " + a.text("code"))
			}
		}
		_ = es.Wait(ctx, betweenAttempts)
	}
	return a, fmt.Errorf("%s is not decided: %w", path, a.wrong(errors.Join(err, ctx.Err())))
}

// query sends a query until it is answered. What the client may have to repeat is an error of the connection, and the
// codes that ask for it.
func (f *fleet) query(ctx context.Context, result any, query, token string, nextOnly bool) error {
	var last error
	for ctx.Err() == nil {
		if url, release := f.url("read-api", nextOnly); url != "" {
			p := person{system: &system{readURL: url}, header: headers{"X-Tenant-Code": "acme"}}
			errs, err := p.query(ctx, result, query, nil, token)
			switch {
			case err == nil && len(errs) == 0:
				return nil
			case err == nil && errs[0].Extensions.Code != "READ_MODEL_BEHIND" && errs[0].Extensions.Code != "UNAVAILABLE":
				return fmt.Errorf("%s at the %s release: %+v", query, release, errs)
			case err == nil:
				f.refusals.add(release + " " + errs[0].Extensions.Code)
			}
			last = err
		}
		_ = es.Wait(ctx, betweenAttempts)
	}
	return fmt.Errorf("%s is not answered: %w", query, errors.Join(last, ctx.Err()))
}
