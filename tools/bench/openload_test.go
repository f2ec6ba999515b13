package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestAStallIsInTheOpenLoadsPercentiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stalls := time.Now().Add(5 * time.Second)
		works := stalls.Add(time.Second)
		calls := make(chan struct{}, 1000)
		took, err := openLoad(t.Context(), 100, 10*time.Second, 4, func(ctx context.Context, _ int) error {
			if now := time.Now(); !now.Before(stalls) && now.Before(works) {
				<-time.After(works.Sub(now))
			} else {
				<-time.After(time.Millisecond)
			}
			calls <- struct{}{}
			return nil
		})
		if err != nil || len(took) != 1000 || len(calls) != 1000 {
			t.Fatalf("%d durations of %d calls, %v", len(took), len(calls), err)
		}
		// A hundred calls, a tenth, were due in the stall. The first waits a second, the last ones a few milliseconds.
		for _, test := range []struct{ share, atLeast, atMost float64 }{
			{0.5, 1, 1}, {0.85, 1, 1}, {0.95, 490, 540}, {0.99, 890, 940}, {0.999, 980, 1000}, {1, 1000, 1000},
		} {
			if got := percentile(took, test.share); got < test.atLeast || got > test.atMost {
				t.Errorf("p%g is %g ms, not from %g to %g", 100*test.share, got, test.atLeast, test.atMost)
			}
		}
	})
}

func TestTheOpenLoadKeepsItsRateWhateverTheServerDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		// Each caller can make 10 calls a second, together 20, where 100 are due: they take five times as long. The
		// second caller begins with the second call.
		took, err := openLoad(t.Context(), 100, time.Second, 2, func(context.Context, int) error {
			<-time.After(100 * time.Millisecond)
			return nil
		})
		if err != nil || time.Since(begun) != 5010*time.Millisecond {
			t.Errorf("ended after %v, %v", time.Since(begun), err)
		}
		if got := percentile(took, 1); got != 5010-990 {
			t.Errorf("the last call took %g ms since it was due", got)
		}
	})
}

func TestTheOpenLoadEndsWithACallThatFails(t *testing.T) {
	failure := errors.New("no")
	if _, err := openLoad(t.Context(), 1000, time.Hour, 4, func(context.Context, int) error { return failure }); !errors.Is(err, failure) {
		t.Error(err)
	}
}
