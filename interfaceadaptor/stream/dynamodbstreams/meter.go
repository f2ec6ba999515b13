package dynamodbstreams

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// meter knows what each shard's reader does, and whether shards are looked for. It only listens: a reader that is dead or
// stuck can't make it forget or pretend.
type meter struct {
	mu      sync.Mutex
	stream  string
	shards  map[string]*progress
	started time.Time // when the source began to look for its stream
	turn    time.Time // when the consumer last took in a listing, or a shard's end, to the end
	hollow  time.Time // since when no shard has anything left to read; zero: one has
	repair  time.Time // since when a repair is due; zero: none is
	trouble error     // what last kept the source from its stream or database; nil after a turn
}

func (m *meter) start(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.started = now
}

// track takes over which shards have something left to read.
func (m *meter) track(stream string, unfinished []*shard, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	tracked := make(map[string]*progress, len(unfinished))
	for _, s := range unfinished {
		p := m.shards[s.id]
		if p == nil {
			p = &progress{shard: s.id, since: now, at: s.position}
		}
		p.list(s.unlisted == 0)
		tracked[s.id] = p
	}
	m.stream, m.shards = stream, tracked
	switch {
	case len(tracked) > 0:
		m.hollow = time.Time{}
	case m.hollow.IsZero():
		m.hollow = now
	}
}

// began returns where a shard's reader reports to.
func (m *meter) began(shard string, at position) *progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.shards[shard]
	p.begin(at, time.Now())
	return p
}

func (m *meter) turned(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn, m.trouble = now, nil
}

func (m *meter) repairDue(due bool, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !due:
		m.repair = time.Time{}
	case m.repair.IsZero():
		m.repair = now
	}
}

func (m *meter) failed(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.trouble = err
}

// reset forgets the stream, but not since when nothing is known.
func (m *meter) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.started, m.turn = time.Now(), time.Time{}
	m.hollow, m.repair = time.Time{}, time.Time{}
	m.stream, m.shards = "", nil
}

// state is what the meter knows at one time.
type state struct {
	stream        string
	started, turn time.Time
	hollow        time.Time
	repair        time.Time
	trouble       error
	shards        []reading // by shard
}

func (m *meter) state() state {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := state{stream: m.stream, started: m.started, turn: m.turn, hollow: m.hollow, repair: m.repair, trouble: m.trouble}
	for _, p := range m.shards {
		now.shards = append(now.shards, p.reading())
	}
	slices.SortFunc(now.shards, func(a, b reading) int { return cmp.Compare(a.shard, b.shard) })
	return now
}
