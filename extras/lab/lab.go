package lab

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/faulty"
	"example.com/threads/es/projection/faults"
)

// deliveries are the faults of the source by their names on the page.
var deliveries = map[string]faults.Delivery{
	"":          {},
	"twice":     {Doubled: 100},
	"reordered": {Moved: 10},
	"lost":      {Lost: 50},
	"broken":    {Broken: 100},
}

// Lab holds the faults that are active. Use [New].
type Lab struct {
	mutex      sync.Mutex
	changed    chan struct{} // closed and replaced on every change
	life       context.Context
	kill       context.CancelCauseFunc // ends life
	turn       context.Context         // of the projection
	paused     bool
	delivery   string
	breakNext  bool // make the next event unreadable
	broken     faults.Broken
	delay      time.Duration // before each write
	loseAnswer bool          // lose the answer of the next write
	beside     string        // URL of another write-api
	random     *rand.Rand
}

// New returns a lab without active faults.
func New() *Lab {
	l := &Lab{
		changed: make(chan struct{}),
		random:  rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0)), // no secrets
	}
	l.life, l.kill = context.WithCancelCause(context.Background())
	return l
}

var errKilled = errors.New("the failure lab has killed the projection")

func (l *Lab) change(how func()) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	how()
	close(l.changed)
	l.changed = make(chan struct{})
}

// await returns when the condition is true, or with ctx's error.
func (l *Lab) await(ctx context.Context, condition func() bool) error {
	for {
		l.mutex.Lock()
		holds, changed := condition(), l.changed
		l.mutex.Unlock()
		if holds {
			return ctx.Err()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// alive returns a context that ends with ctx or when the projection is killed.
func (l *Lab) alive(ctx context.Context) (context.Context, func()) {
	l.mutex.Lock()
	life := l.life
	l.mutex.Unlock()
	ctx, end := context.WithCancelCause(ctx)
	stop := context.AfterFunc(life, func() { end(errKilled) })
	return ctx, func() { stop(); end(nil) }
}

// WriteBeside sets the URL of another write-api on the same store. Call it before using the handler.
func (l *Lab) WriteBeside(url string) { l.beside = url }

// Turn implements run.Faults: a killed projection waits until it is started again. A kill ends the turn: it rolls
// back the projection's current transaction and stops the updater's other work cleanly. The next turn starts with
// nothing in memory. The process keeps running.
func (l *Lab) Turn(ctx context.Context) (context.Context, error) {
	if err := l.await(ctx, func() bool { return l.life.Err() == nil }); err != nil {
		return ctx, err
	}
	turn, end := l.alive(ctx)
	context.AfterFunc(turn, end)
	l.change(func() { l.turn = turn })
	return turn, nil
}

// Gateway wraps the write-api's event store: its answers may be delayed or lost.
func (l *Lab) Gateway(store es.Store) es.Store {
	return faultyStore{store, &faulty.Gateway{EventPersistenceGateway: store, Fault: l.meet}}
}

// faultyStore is a store whose appends go through a gateway with faults.
type faultyStore struct {
	es.Store
	appends *faulty.Gateway
}

// Append implements [es.EventPersistenceGateway].
func (s faultyStore) Append(ctx context.Context, write es.Append) error {
	return s.appends.Append(ctx, write)
}

// meet injects the active faults into an append.
func (l *Lab) meet(ctx context.Context, send func(context.Context) error) error {
	l.mutex.Lock()
	late, lose := faulty.Late(l.delay), l.loseAnswer
	l.loseAnswer = false
	l.mutex.Unlock()
	return late(ctx, func(ctx context.Context) error {
		if lose {
			return faulty.LoseAnswer(ctx, send)
		}
		return send(ctx)
	})
}
