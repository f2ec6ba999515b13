package main

import (
	"context"
	"slices"
	"time"
)

// A measure in turns runs all builds and the yardstick side by side, and lets them work one after the other for a short
// time each. What changes slowly on the machine affects neighbours alike, so the median of the turns' ratios shows what
// single runs don't.
const (
	turnsPerRun = 5
	turnShare   = 10 // a turn takes this part of a run's duration
)

// taker works for the duration of a turn.
type taker func(ctx context.Context, duration time.Duration) (load, error)

// inTurns lets all work in turns, after a turn that does not count. It returns the turns of each. There are twice as
// many to compare builds.
func inTurns(ctx context.Context, labs []*lab, takers ...taker) ([][]load, error) {
	l := labs[0]
	turns, order := l.runs*turnsPerRun*len(labs), make([]int, len(takers))
	for i := range order {
		order[i] = i
	}
	taken := make([][]load, len(takers))
	for turn := -1; turn < turns; turn++ {
		for _, i := range order {
			done, err := takers[i](ctx, l.duration/turnShare)
			if err != nil {
				return nil, err
			}
			if turn >= 0 {
				taken[i] = append(taken[i], done)
			}
		}
		slices.Reverse(order) // whoever was first is last
	}
	return taken, nil
}

// each returns a reading for each turn of each lab. The yardstick of the first lab is the first one, and so on; there
// may be one for all.
func (r reading) each(labs []*lab, values, yardsticks [][]load, figure func(load) float64) (found []reading) {
	for i, l := range labs {
		beside := yardsticks[min(i, len(yardsticks)-1)]
		for turn, done := range values[i] {
			one := r
			one.Name, one.Value, one.Yardstick = l.prefix+r.Name, figure(done), figure(beside[turn])
			found = append(found, one)
		}
	}
	return found
}

// tail returns a percentile of the durations of all turns of each lab together, because a turn has too few of them.
func (r reading) tail(labs []*lab, values, yardsticks [][]load, share float64, durations func(load) []time.Duration) (found []reading) {
	for i, l := range labs {
		one := r
		one.Name, one.Value, one.Yardstick = l.prefix+r.Name, percentile(joined(values[i], durations), share),
			percentile(joined(yardsticks[min(i, len(yardsticks)-1)], durations), share)
		found = append(found, one)
	}
	return found
}

func joined(turns []load, durations func(load) []time.Duration) (all []time.Duration) {
	for _, turn := range turns {
		all = append(all, durations(turn)...)
	}
	return all
}

func perSecondOf(l load) float64 { return l.perSecond }
