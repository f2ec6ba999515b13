package dynamodbstreams

import (
	"errors"
	"fmt"
	"time"
)

// Health is nil while the source moves: it knows the stream's shards, and each of their readers has got on - if only to
// find nothing new - within Settings.StallAfter. Being behind is not a fault; standing still is. The error says
// what stands still, and why.
func (s *Source) Health() error {
	state, now := s.meter.state(), time.Now()
	if state.turn.IsZero() {
		return fmt.Errorf("the journal's stream and the read model have not been reached yet: %w", reason(state.trouble))
	}
	if idle := now.Sub(state.turn); idle > s.settings.StallAfter+s.settings.DiscoverEvery {
		return fmt.Errorf("no look for shards has succeeded for %s: %w", idle.Round(time.Second), reason(state.trouble))
	}
	for _, shard := range state.shards {
		if idle := now.Sub(shard.step); shard.running && idle > s.settings.StallAfter {
			return fmt.Errorf("shard %s has not moved for %s: %w", shard.shard, idle.Round(time.Second), reason(shard.trouble))
		}
	}
	return nil
}

// RepairDue tells that the read model may miss what only the journal still has, and that a repair is under way or will be.
func (s *Source) RepairDue() bool { return !s.meter.state().repair.IsZero() }

// errSilent is the reason of something that stands still without having failed.
var errSilent = errors.New("no answer so far")

func reason(err error) error {
	if err == nil {
		return errSilent
	}
	return err
}
