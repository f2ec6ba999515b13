package command

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"example.com/threads/usecase"
)

const (
	// contentionFades is how long after the last sign of another process an aggregate is treated as contended.
	contentionFades = time.Second
	// longestYield bounds what a process gives the others, however slow its store is.
	longestYield = 100 * time.Millisecond
)

// turns lets processes that write to the same aggregate have their turns. The one that has just written would always be
// the first to write again, because the others must read what it wrote before they can: so it leaves them the time for
// that. A process that sees no sign of others never waits.
type turns struct {
	mutex     sync.Mutex
	contended map[usecase.Key]contention
}

type contention struct {
	fades   time.Time // with no further sign of others
	yields  time.Time // when the others have had their time
	version uint64    // that this process knows of
}

// met notes a sign of another process: a conflict, or a version that it wrote.
func (t *turns) met(key usecase.Key, version uint64) {
	now := time.Now()
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for key, c := range t.contended {
		if now.After(c.fades) {
			delete(t.contended, key)
		}
	}
	if t.contended == nil {
		t.contended = map[usecase.Key]contention{}
	}
	c := t.contended[key]
	c.fades, c.version = now.Add(contentionFades), max(c.version, version)
	t.contended[key] = c
}

// others tells whether other processes write to the aggregate, as far as is known.
func (t *turns) others(key usecase.Key) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return time.Now().Before(t.contended[key].fades)
}

// reloaded notes the version that the store shows.
func (t *turns) reloaded(key usecase.Key, version uint64) {
	t.mutex.Lock()
	known := t.contended[key].version
	t.mutex.Unlock()
	if version > known {
		t.met(key, version)
	}
}

// wrote notes that this process wrote the version, which took it so long: about as long as the others need.
func (t *turns) wrote(key usecase.Key, version uint64, took time.Duration) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if c, contended := t.contended[key]; contended {
		took = min(took, longestYield/2)
		c.version, c.yields = version, time.Now().Add(took+rand.N(took+1))
		t.contended[key] = c
	}
}

// yield waits until the others have had their time. What arrives meanwhile shares the next write.
func (t *turns) yield(key usecase.Key) {
	t.mutex.Lock()
	c := t.contended[key]
	t.mutex.Unlock()
	if now := time.Now(); now.Before(c.fades) && now.Before(c.yields) {
		<-time.After(c.yields.Sub(now))
	}
}

// pause waits for the duration, or until ctx ends.
func pause(ctx context.Context, duration time.Duration) {
	if duration <= 0 {
		return
	}
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
