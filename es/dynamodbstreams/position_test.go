package dynamodbstreams

import (
	"testing"
	"time"
)

// A position is trusted by its age, which a clock that was wrong can make too small.
func TestPositionsOfAWrongClockAreNotTrusted(t *testing.T) {
	now := time.Now()
	for age, want := range map[time.Duration]bool{0: true, horizon - 1: true, horizon: false, -59 * time.Minute: true, -time.Hour: false, -24 * time.Hour: false} {
		if got := (position{kind: begun, at: now.Add(-age)}).trusted(now); got != want {
			t.Errorf("%s old: trusted %t", age, got)
		}
	}
}
