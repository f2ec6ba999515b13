package es

import (
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// contentionFades is how long an aggregate is treated as contended after the last sign of another writer.
	contentionFades = time.Second
	// longestYield is the maximum time that a process waits for the others, however slow its store is.
	longestYield = 100 * time.Millisecond
)

// turns shares an aggregate fairly between processes that write to it. Without it, the process that has just written
// would always write next, because the others must first read its write. So after a write it waits as long as the
// others need to read. A process that sees no sign of another writer never waits.
type turns struct {
	mutex     sync.Mutex
	contended map[AggregateID]contention
}

type contention struct {
	fades   time.Time // when the aggregate is no longer treated as contended
	yields  time.Time // until when this process waits for the others
	version uint64    // the latest version that this process knows
}

// met records a sign of another process: a conflict, or a version that it wrote.
func (t *turns) met(key AggregateID, version uint64) {
	now := time.Now()
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for key, c := range t.contended {
		if now.After(c.fades) {
			delete(t.contended, key)
		}
	}
	if t.contended == nil {
		t.contended = map[AggregateID]contention{}
	}
	c := t.contended[key]
	c.fades, c.version = now.Add(contentionFades), max(c.version, version)
	t.contended[key] = c
}

// others reports whether other processes are known to write to the aggregate.
func (t *turns) others(key AggregateID) bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return time.Now().Before(t.contended[key].fades)
}

// reloaded compares the stored version with the known one: a newer one was written by another process.
func (t *turns) reloaded(key AggregateID, version uint64) {
	t.mutex.Lock()
	known := t.contended[key].version
	t.mutex.Unlock()
	if version > known {
		t.met(key, version)
	}
}

// wrote records that this process wrote the version. took estimates the time that another process needs for its turn.
func (t *turns) wrote(key AggregateID, version uint64, took time.Duration) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if c, contended := t.contended[key]; contended {
		took = min(took, longestYield/2)
		c.version, c.yields = version, time.Now().Add(took+rand.N(took+1))
		t.contended[key] = c
	}
}

// yield waits until the other processes have had their turn. Commands that arrive meanwhile share the next write.
func (t *turns) yield(key AggregateID) {
	t.mutex.Lock()
	c := t.contended[key]
	t.mutex.Unlock()
	if now := time.Now(); now.Before(c.fades) && now.Before(c.yields) {
		<-time.After(c.yields.Sub(now))
	}
}
