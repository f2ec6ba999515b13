package dynamodbstreams

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"example.com/threads/es/projection"
)

// status holds what the source and the reader of each shard last reported. It is independent of the readers, so that a
// stuck reader is never taken for an idle one.
type status struct {
	mu      sync.Mutex
	shards  map[string]*shardStatus // those that may have something left to read
	started time.Time               // when the source began to look for its stream
	// when it last processed a listing or a shard's end; zero: the stream was not reached yet
	turned  time.Time
	empty   time.Time // since when there is no shard to read; zero: there is one
	trouble error     // last error of the stream or database; nil after success
}

// shardStatus is the status of one shard.
type shardStatus struct {
	listed  bool
	running bool
	current time.Time // no unprojected record is known to be older
	clear   time.Time // when there was last nothing to read
	empties int       // consecutive empty pages
	pending *page     // read but not projected
	step    time.Time // the reader's last success
	trouble error     // the reader's last error; nil after success
}

func (s *status) change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// shard updates the status of a shard.
func (s *status) shard(id string, change func(*shardStatus)) {
	s.change(func() {
		if known := s.shards[id]; known != nil {
			change(known)
		}
	})
}

func (s *status) fail(err error) { s.change(func() { s.trouble = err }) }

// reset clears the status of the stream.
func (s *status) reset(now time.Time) {
	s.change(func() { s.started, s.turned, s.empty, s.shards = now, time.Time{}, time.Time{}, nil })
}

// track sets the shards that have something left to read.
func (s *status) track(unfinished []*shard, now time.Time) {
	s.change(func() {
		tracked := make(map[string]*shardStatus, len(unfinished))
		for _, open := range unfinished {
			known := s.shards[open.id]
			if known == nil {
				known = &shardStatus{current: now}
			}
			known.listed = open.unlisted == 0
			tracked[open.id] = known
		}
		s.shards = tracked
		switch {
		case len(tracked) > 0:
			s.empty = time.Time{}
		case s.empty.IsZero():
			s.empty = now
		}
	})
}

// projected records that a page was projected.
func (s *shardStatus) projected(p *page) {
	s.pending = nil
	s.current = later(s.current, p.newest)
	if p.read == 0 {
		s.sawNothing(p.asked)
	} else {
		s.empties = 0
	}
}

// sawNothing records that there was no record at the given time.
func (s *shardStatus) sawNothing(at time.Time) {
	if s.empties++; s.empties >= emptyPages {
		s.clear, s.current = at, later(s.current, at)
	}
}

// freshFor is how long a shard counts as caught up after its reader found nothing. A working reader renews this about
// every PollMax.
const freshFor = time.Second

// Lag returns how far the projection is behind the journal, from the status of the shards. A shard that had nothing to
// read within the last second is caught up. Otherwise its lag is the age of its oldest record that was read but not
// projected; if there is none, the time since the shard was last known to be caught up. The largest lag counts. Without
// a shard, or if listings fail, it is the time since that began.
func (s *Source) Lag(context.Context) projection.Lag {
	now := time.Now()
	s.status.mu.Lock()
	defer s.status.mu.Unlock()
	var lag projection.Lag
	since := func(at time.Time) {
		lag.Behind, lag.AtLeast = max(lag.Behind, now.Sub(at)), true
	}
	switch {
	case s.status.turned.IsZero():
		since(s.status.started)
	case now.Sub(s.status.turned) > s.settings.StallAfter+s.settings.DiscoverEvery:
		since(s.status.turned)
	case !s.status.empty.IsZero() && now.Sub(s.status.empty) > freshFor:
		since(s.status.empty)
	}
	for _, one := range s.status.shards {
		switch {
		case one.pending != nil && len(one.pending.records) > 0:
			lag.Records += len(one.pending.records)
			lag.Behind = max(lag.Behind, now.Sub(later(one.pending.oldest, one.current)))
			lag.AtLeast = lag.AtLeast || one.pending.read >= int(s.settings.PageLimit) || now.Sub(one.pending.asked) > freshFor
		case now.Sub(one.clear) > freshFor:
			since(one.current)
		}
	}
	return lag
}

// Health returns nil while the source makes progress: it knows the stream's shards, and each reader succeeded within
// Settings.StallAfter, even if there was nothing new. Being behind is not a fault; standing still is. The error says
// what is stuck, and why.
func (s *Source) Health() error {
	now := time.Now()
	s.status.mu.Lock()
	defer s.status.mu.Unlock()
	if s.status.turned.IsZero() {
		return fmt.Errorf("the journal's stream or the projection's database has not been reached yet: %w", reason(s.status.trouble))
	}
	if idle := now.Sub(s.status.turned); idle > s.settings.StallAfter+s.settings.DiscoverEvery {
		return fmt.Errorf("listing the stream's shards has not succeeded for %s: %w", idle.Round(time.Second), reason(s.status.trouble))
	}
	for id, one := range s.status.shards {
		if idle := now.Sub(one.step); one.running && idle > s.settings.StallAfter {
			return fmt.Errorf("shard %s has made no progress for %s: %w", id, idle.Round(time.Second), reason(one.trouble))
		}
	}
	return nil
}

// errSilent is the reason when nothing has failed yet.
var errSilent = errors.New("no answer so far")

func reason(err error) error {
	if err == nil {
		return errSilent
	}
	return err
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
