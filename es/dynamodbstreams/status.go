package dynamodbstreams

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"example.com/threads/es/internal/polling"
	"example.com/threads/es/projection"
)

// freshFor is how long a shard counts as caught up after its reader found nothing, as it does about every PollMax.
const freshFor = time.Second

// Lag returns how far the projection is behind the journal, from the status of the shards. A shard that had nothing to
// read within the last second is caught up. Otherwise its lag is the age of its oldest record that was read but not
// projected; if there is none, the time since the shard was last known to be caught up. The largest lag counts. Without
// a shard to read it is the time since the last one was caught up; if listings fail, the time since the last of them.
func (s *Source) Lag(context.Context) projection.Lag {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	var lag projection.Lag
	since := func(at time.Time) {
		lag.Behind, lag.AtLeast = max(lag.Behind, now.Sub(at)), true
	}
	switch {
	case s.listed.IsZero():
		since(s.started)
	case now.Sub(s.listed) > s.silence():
		since(s.listed)
	}
	reading, caughtUp := false, s.started
	for _, one := range s.shards {
		if !one.unfinished() {
			caughtUp = later(caughtUp, one.current)
			continue
		}
		reading = true
		switch {
		case one.pending != nil && len(one.pending.records) > 0:
			lag.Records += len(one.pending.records)
			lag.Behind = max(lag.Behind, now.Sub(later(one.pending.oldest, one.current)))
			lag.AtLeast = lag.AtLeast || one.pending.read >= int(s.settings.PageLimit) || now.Sub(one.pending.asked) > freshFor
		case now.Sub(one.clear) > freshFor:
			since(one.current)
		}
	}
	if !reading && now.Sub(caughtUp) > freshFor {
		since(caughtUp)
	}
	return lag
}

// silence is how long the listings may fail.
func (s *Source) silence() time.Duration { return polling.StallAfter + s.settings.DiscoverEvery }

// Health returns what is stuck, and why, unless the shards are listed and each reader succeeded within ten seconds.
func (s *Source) Health() error {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listed.IsZero() {
		return fmt.Errorf("the journal's stream or the projection's database has not been reached yet: %w", cmp.Or(s.trouble, polling.ErrSilent))
	}
	if idle := now.Sub(s.listed); idle > s.silence() {
		return fmt.Errorf("listing the stream's shards has not succeeded for %s: %w", idle.Round(time.Second), cmp.Or(s.trouble, polling.ErrSilent))
	}
	for id, one := range s.shards {
		if idle := now.Sub(one.step); one.running && idle > polling.StallAfter {
			return fmt.Errorf("shard %s has made no progress for %s: %w", id, idle.Round(time.Second), cmp.Or(one.trouble, polling.ErrSilent))
		}
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
