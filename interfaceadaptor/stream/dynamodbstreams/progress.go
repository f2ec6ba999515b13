package dynamodbstreams

import (
	"sync"
	"time"
)

// progress is what is known of one shard that has something left to read, or may have.
type progress struct {
	shard string
	since time.Time // when the source learned of it

	mu      sync.Mutex
	listed  bool
	running bool
	at      position
	empties int       // empty pages in a row
	clear   time.Time // when there was last known to be nothing to read
	reached time.Time // when the newest record was written that is projected
	pending int       // records read and not projected
	oldest  time.Time // when the first of them was written
	step    time.Time // when the reader last got on
	trouble error     // why it did not the last time
}

func (p *progress) list(listed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listed = listed
}

func (p *progress) isListed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.listed
}

func (p *progress) begin(at position, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running, p.at, p.step = true, at, now
}

// read takes in a page that came.
func (p *progress) read(page *page) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending, p.oldest = len(page.records), page.oldest
}

// projected takes in that the page is in the read model.
func (p *progress) projected(page *page) {
	p.mu.Lock()
	p.pending = 0
	if page.newest.After(p.reached) {
		p.reached = page.newest
	}
	if page.read > 0 {
		p.empties = 0
	}
	p.mu.Unlock()
	if page.read == 0 {
		p.empty(page.asked)
	}
}

// empty takes in that there was nothing to read at the given time.
func (p *progress) empty(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.empties++; p.empties >= emptyPages {
		p.clear = at
	}
}

func (p *progress) moved(at position, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.step, p.trouble = at, now, nil
}

func (p *progress) failed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trouble = err
}

// reading is a copy of a progress.
type reading struct {
	shard         string
	running       bool
	at            position
	clear, oldest time.Time
	since, known  time.Time // nothing unprojected is older than known; zero: that is not known
	pending       int
	step          time.Time
	trouble       error
}

func (p *progress) reading() reading {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := later(p.clear, p.reached)
	if p.at.kind == after {
		known = later(known, p.at.at)
	}
	return reading{
		shard: p.shard, running: p.running, at: p.at, clear: p.clear, oldest: p.oldest, since: p.since, known: known,
		pending: p.pending, step: p.step, trouble: p.trouble,
	}
}
