package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
)

const (
	standbyRounds = 9                // of faults
	takeover      = 15 * time.Second // after death or pause; without other load it takes a few seconds
	handover      = 10 * time.Second // after a clean stop; without other load it takes a moment
	askedWithin   = 5 * time.Second
)

// isActive reports whether a process says that it writes the read model. A process that does not answer is not active.
func isActive(ctx context.Context, p *process) bool {
	ctx, cancel := context.WithTimeout(ctx, askedWithin)
	defer cancel()
	asking := *p
	asking.ctx = ctx
	_, found, err := asking.health()
	return err == nil && found.Active
}

// Of three updaters one must work. It is killed, paused or stopped every few seconds: another one must take over in
// time, the rows must be exact in the end, and two may be active at once only for moments.
func TestOneOfThreeUpdatersWorks(t *testing.T) {
	s := newSystem(t).setUp(t)
	group := make([]*process, 3)
	for i := range group {
		group[i] = s.start(t)
	}
	threads := []es.AggregateID{s.create(t), s.create(t), s.create(t)}
	written := s.postAllTheTime(t, threads)
	active := func(except int) (int, error) {
		for i, p := range group {
			if i != except && isActive(t.Context(), p) {
				return i, nil
			}
		}
		return -1, errors.New("no other updater works")
	}
	took := map[string][]time.Duration{}
	next := func(except int, after string) (found int) {
		t.Helper()
		began := time.Now()
		testenv.Eventually(t, soon, func() (err error) { found, err = active(except); return err })
		took[after] = append(took[after], time.Since(began))
		return found
	}
	now := next(-1, "start")
	paused := -1
	for round := range standbyRounds {
		before := now
		switch round % 3 {
		case 0:
			group[before].signal(t, syscall.SIGKILL)
			now = next(before, "kill -9")
			_ = group[before].cmd.Wait()
			group[before] = s.start(t)
		case 1:
			group[before].signal(t, syscall.SIGSTOP)
			paused = before
			now = next(before, "pause")
			written.goOn(t)
			group[paused].signal(t, syscall.SIGCONT)
			testenv.Eventually(t, soon, func() error {
				if isActive(t.Context(), group[paused]) {
					return errors.New("an updater that was paused still believes that it has the turn")
				}
				return nil
			})
		case 2:
			group[before].signal(t, syscall.SIGTERM)
			now = next(before, "clean stop")
			_ = group[before].cmd.Wait()
			group[before] = s.start(t)
		}
		written.goOn(t)
	}
	t.Logf("another updater worked after %v", took)
	for after, within := range map[string]time.Duration{"kill -9": takeover, "pause": takeover, "clean stop": handover} {
		if all := took[after]; len(all) > 0 && slices.Min(all) > within { // the others wait for a busy machine, too
			t.Errorf("after a %s another updater worked only after %s", after, all)
		}
	}
	versions := written.stop(t)
	for key, version := range versions {
		testenv.Eventually(t, soon, func() error { return s.isAt(t.Context(), key, version) })
	}
	testenv.Eventually(t, soon, func() error {
		count := 0
		for _, p := range group {
			if isActive(t.Context(), p) {
				count++
			}
			if status, found, err := p.health(); err != nil || status != http.StatusOK {
				return fmt.Errorf("an updater is not ready: %+v, %w", found, err)
			}
		}
		if count != 1 {
			return fmt.Errorf("%d updaters work", count)
		}
		return nil
	})
}

func (p *process) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
}

// posting are the writes during a test.
type posting struct {
	end      context.CancelFunc
	ended    sync.WaitGroup
	mu       sync.Mutex
	versions map[es.AggregateID]uint64
}

// postAllTheTime posts to threads until it is stopped.
func (s *world) postAllTheTime(t *testing.T, threads []es.AggregateID) *posting {
	ctx, end := context.WithCancel(t.Context())
	p := &posting{end: end, versions: make(map[es.AggregateID]uint64)}
	for _, key := range threads {
		p.ended.Go(func() {
			for i := 0; es.Wait(ctx, 25*time.Millisecond) == nil; i++ { // the writer's pace
				version, err := s.post(t.Context(), key, fmt.Sprint("message ", i))
				if err != nil {
					t.Error(err)
					return
				}
				p.mu.Lock()
				p.versions[key] = version
				p.mu.Unlock()
			}
		})
	}
	return p
}

func (p *posting) now() map[es.AggregateID]uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.versions)
}

// goOn waits until more has been written.
func (p *posting) goOn(t *testing.T) {
	t.Helper()
	before := p.now()
	testenv.Eventually(t, soon, func() error {
		for key, version := range p.now() {
			if version < before[key]+10 {
				return errors.New("nobody writes")
			}
		}
		return nil
	})
}

func (p *posting) stop(t *testing.T) map[es.AggregateID]uint64 {
	t.Helper()
	p.end()
	p.ended.Wait()
	return p.now()
}
