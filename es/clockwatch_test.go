package es_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
)

// TestClockWatch runs in a synctest bubble with its own time.
func TestClockWatch(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		var ahead time.Duration
		reads, failure := 0, error(nil)
		watch := &es.ClockWatch{
			Clock: func() time.Time { return time.Now().Add(ahead) },
			Other: func(context.Context) (time.Time, error) {
				reads++
				return time.Now().Round(0), failure
			},
			Tolerance: 5 * time.Minute,
		}
		want := func(when, said string) {
			t.Helper()
			err := watch.Check(t.Context())
			if (err == nil) != (said == "") || err != nil && !strings.Contains(err.Error(), said) {
				t.Errorf("%s: %v, want %q", when, err, said)
			}
		}
		const later = 15 * time.Second

		failure = errors.New("no answer")
		ahead = time.Hour
		want("never compared", "")
		failure = nil
		want("soon after a failure", "")
		<-time.After(later)
		want("an hour ahead", "1h0m0s ahead of")
		if watch.Ahead() != time.Hour {
			t.Errorf("ahead: %s", watch.Ahead())
		}

		// A clock that is set is compared at once.
		ahead, failure = 0, errors.New("no answer")
		want("set right, but nothing to compare with", "ahead")
		failure = nil
		<-time.After(later)
		want("set right", "")
		ahead = -72 * time.Hour
		want("set back a moment ago", "72h0m0s behind")
		ahead = 0
		want("set right a moment ago", "")

		before := reads
		for range 10 {
			want("compared a moment ago", "")
		}
		if reads != before {
			t.Errorf("%d reads for ten checks in a row", reads-before)
		}

		for _, test := range []struct {
			ahead time.Duration
			said  string
		}{
			{5 * time.Minute, ""}, {-5 * time.Minute, ""}, {5*time.Minute + 1, "ahead of"}, {-5*time.Minute - 1, "behind"},
		} {
			<-time.After(later)
			ahead = test.ahead
			want(test.ahead.String(), test.said)
		}
	})
}

// TestAClockThatDoesNotAnswer checks that callers do not wait long for such a clock.
func TestAClockThatDoesNotAnswer(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		watch := &es.ClockWatch{Clock: time.Now, Other: func(ctx context.Context) (time.Time, error) {
			<-ctx.Done()
			return time.Time{}, ctx.Err()
		}}
		began := time.Now()
		if err := watch.Check(t.Context()); err != nil || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}
