package run

import (
	"testing"
	"time"

	"example.com/threads/es/projection"
)

// The time left follows from the speed since the rebuild goes on: an interruption does not count.
func TestTimeLeftOfARebuildLeavesInterruptionsOut(t *testing.T) {
	begun := time.Now()
	var p pace
	for _, step := range []struct {
		second, updated int
		done            uint64
		left            int
		interrupted     bool
	}{
		{second: 10, updated: 10, done: 1000, left: 90}, // 100 events a second
		{second: 20, updated: 20, done: 2000, left: 80},
		{second: 40, updated: 20, done: 2000, interrupted: true}, // killed
		{second: 3600, updated: 20, done: 2000, interrupted: true},
		{second: 3611, updated: 3610, done: 2000}, // resumed: nothing is known yet
		{second: 3621, updated: 3620, done: 4000, left: 30},
	} {
		at := func(second int) time.Time { return begun.Add(time.Duration(second) * time.Second) }
		state := projection.RebuildState{Phase: projection.Reading, Done: step.done, Total: 10_000, StartedAt: begun, UpdatedAt: at(step.updated)}
		left, interrupted := p.left(state, at(step.second))
		if interrupted != step.interrupted || left.Round(time.Second) != time.Duration(step.left)*time.Second {
			t.Errorf("after %d seconds: %v left, interrupted: %t; want %+v", step.second, left, interrupted, step)
		}
	}
	next := projection.RebuildState{Phase: projection.Reading, Done: 100, Total: 200, StartedAt: begun.Add(time.Hour * 2), UpdatedAt: begun.Add(2*time.Hour + time.Second)}
	if left, _ := p.left(next, next.UpdatedAt); left != time.Second {
		t.Errorf("another rebuild: %v left", left)
	}
}
