package dynamodbstreams

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"example.com/threads/interfaceadaptor/stream"
)

// status is what the source, and the reader of each shard, last told of themselves. It outlives a reader that is dead
// or stuck, so that standing still is never taken for having nothing to do.
type status struct {
	mu      sync.Mutex
	shards  map[string]*shardStatus // those that have something left to read, or may have
	started time.Time               // when the source began to look for its stream
	turned  time.Time               // when it last took in a listing or a shard's end; zero: it has not reached the stream
	empty   time.Time               // since when there is no shard to read; zero: there is one
	trouble error                   // what last kept it from its stream or database; nil after a turn
}

// shardStatus is one shard's part of a status.
type shardStatus struct {
	listed  bool
	running bool
	current time.Time // nothing that is not projected is older, as far as is known
	clear   time.Time // when there was last nothing to read
	empties int       // empty pages in a row
	pending *page     // read and not projected
	step    time.Time // when its reader last got on
	trouble error     // why it did not the last time
}

func (s *status) change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// shard changes what is known of a shard.
func (s *status) shard(id string, change func(*shardStatus)) {
	s.change(func() {
		if known := s.shards[id]; known != nil {
			change(known)
		}
	})
}

func (s *status) fail(err error) { s.change(func() { s.trouble = err }) }

// reset forgets the stream.
func (s *status) reset(now time.Time) {
	s.change(func() { s.started, s.turned, s.empty, s.shards = now, time.Time{}, time.Time{}, nil })
}

// track takes over which shards have something left to read.
func (s *status) track(unfinished []*shard, now time.Time) {
	s.change(func() {
		tracked := make(map[string]*shardStatus, len(unfinished))
		for _, shard := range unfinished {
			known := s.shards[shard.id]
			if known == nil {
				known = &shardStatus{current: now}
			}
			known.listed = shard.unlisted == 0
			tracked[shard.id] = known
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

// projected takes in that a page is in the rows.
func (s *shardStatus) projected(p *page) {
	s.pending = nil
	s.current = later(s.current, p.newest)
	if p.read == 0 {
		s.nothing(p.asked)
	} else {
		s.empties = 0
	}
}

// nothing takes in that there was no record at the given time.
func (s *shardStatus) nothing(at time.Time) {
	if s.empties++; s.empties >= emptyPages {
		s.clear, s.current = at, later(s.current, at)
	}
}

// freshFor is how long a reader's word that there was nothing to read is believed. One that works renews it every
// PollMax or so.
const freshFor = time.Second

// Lag tells how far the projection is behind the journal, by what the readers of the shards last told: a shard that had
// nothing to read within the last second is not behind; any other is behind since the oldest record that was read from
// it and is not projected, or since it was last known not to be behind. The shard that is furthest behind counts.
// Without a shard, or as long as new ones can't be looked for, it is the time since then.
func (s *Source) Lag(context.Context) stream.Lag {
	now := time.Now()
	s.status.mu.Lock()
	defer s.status.mu.Unlock()
	var lag stream.Lag
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
	for _, shard := range s.status.shards {
		switch {
		case shard.pending != nil && len(shard.pending.records) > 0:
			lag.Records += len(shard.pending.records)
			lag.Behind = max(lag.Behind, now.Sub(later(shard.pending.oldest, shard.current)))
			lag.AtLeast = lag.AtLeast || shard.pending.read >= int(s.settings.PageLimit) || now.Sub(shard.pending.asked) > freshFor
		case now.Sub(shard.clear) > freshFor:
			since(shard.current)
		}
	}
	return lag
}

// Health is nil while the source moves: it knows the stream's shards, and each of their readers has got on - if only to
// find nothing new - within Settings.StallAfter. Being behind is not a fault; standing still is. The error says
// what stands still, and why.
func (s *Source) Health() error {
	now := time.Now()
	s.status.mu.Lock()
	defer s.status.mu.Unlock()
	if s.status.turned.IsZero() {
		return fmt.Errorf("the journal's stream and the database of the projection have not been reached yet: %w", reason(s.status.trouble))
	}
	if idle := now.Sub(s.status.turned); idle > s.settings.StallAfter+s.settings.DiscoverEvery {
		return fmt.Errorf("no look for shards has succeeded for %s: %w", idle.Round(time.Second), reason(s.status.trouble))
	}
	for id, shard := range s.status.shards {
		if idle := now.Sub(shard.step); shard.running && idle > s.settings.StallAfter {
			return fmt.Errorf("shard %s has not moved for %s: %w", id, idle.Round(time.Second), reason(shard.trouble))
		}
	}
	return nil
}

// errSilent is the reason of something that stands still without having failed.
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
