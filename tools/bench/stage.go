package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"
)

// mostClients is the number of clients that use all processors, and of the threads on a stage.
const mostClients = 32

// stage is where posts are measured: the running systems of all builds, and raw transactions in a store of the same
// kind.
type stage struct {
	labs      []*lab
	systems   []*runningSystem // of the labs
	user      string
	threads   [][]string // of the labs
	raw       func(ctx context.Context, client int) error
	serial    bool   // only one raw transaction runs at a time
	yardstick string // what a raw transaction is
	without   string // what the figures leave out
}

func newStage(labs []*lab) *stage { return &stage{labs: labs, user: ulid.Make().String()} }

// add adds the running system of the next lab.
func (s *stage) add(ctx context.Context, system *runningSystem) error {
	s.systems = append(s.systems, system)
	threads, err := system.newThreads(ctx, s.user, mostClients)
	s.threads = append(s.threads, threads)
	return err
}

func (s *stage) stop() {
	for _, system := range s.systems {
		system.stop()
	}
}

// turns are what the clients did in turns, by lab, and the raw transactions.
type turns struct {
	labs         []*lab
	systems, raw [][]load
	row          reading // what its readings have in common
}

// take lets clients post, each to a thread of its own or all to one thread, with raw transactions in turns. rate is of
// an open load; 0: each client waits for its answer.
func (s *stage) take(ctx context.Context, name string, clients int, hot bool, rate float64) (turns, error) {
	s.labs[0].say("%s", name)
	var takers []taker
	for i, system := range s.systems {
		threads := s.threads[i][:clients]
		if hot {
			threads = threads[:1]
		}
		takers = append(takers, system.take(job{user: s.user, clients: clients, threads: threads, blind: true}, rate))
	}
	rawClients := clients
	if s.serial && rate == 0 {
		rawClients = 1
	}
	takers = append(takers, rawTake(s.raw, rawClients, rate))
	taken, err := inTurns(ctx, s.labs, takers...)
	if err != nil {
		return turns{}, fmt.Errorf("%s: %w", name, err)
	}
	row := reading{Name: name, Beside: s.yardstick, Without: s.without}
	return turns{s.labs, taken[:len(s.systems)], taken[len(s.systems):], row}, nil
}

// warmUp lets all work for a time without measuring, because DynamoDB Local is slow at first.
func (s *stage) warmUp(ctx context.Context) error {
	for i, system := range s.systems {
		if _, err := system.take(job{user: s.user, clients: mostClients, threads: s.threads[i], blind: true}, 0)(ctx, s.labs[i].warmUp); err != nil {
			return err
		}
	}
	_, err := rawTake(s.raw, 1, 0)(ctx, s.labs[0].warmUp)
	return err
}

// rawTake returns a taker that repeats raw transactions.
func rawTake(raw func(ctx context.Context, client int) error, clients int, rate float64) taker {
	return watched(ownUsage, func(ctx context.Context, duration time.Duration) (done load, err error) {
		if rate > 0 {
			done.answers, err = openLoad(ctx, rate, duration, clients, raw)
			done.posted = len(done.answers)
			return done, err
		}
		return repeat(ctx, clients, duration, raw)
	})
}

// each returns a reading for each turn of each lab.
func (t turns) each(suffix, unit, beside string, figure func(load) float64) []reading {
	row := t.row
	row.Name, row.Unit, row.Beside = row.Name+suffix, unit, beside
	return row.each(t.labs, t.systems, t.raw, figure)
}

// rates returns the commands per second.
func (t turns) rates() []reading { return t.each("", "commands/s", t.row.Beside, perSecondOf) }

// open measures answers, and what a command uses, at a rate that all bear: half of what the slowest did in turns in
// which all clients waited for answers.
func (s *stage) open(ctx context.Context, name string, full turns) (found []reading, err error) {
	slowest := math.Inf(1)
	for _, of := range slices.Concat(full.systems, full.raw) {
		var rates []float64
		for _, turn := range of {
			rates = append(rates, turn.perSecond)
		}
		slowest = min(slowest, median(rates))
	}
	rate := slowest / 2
	taken, err := s.take(ctx, name, mostClients, false, rate)
	if err != nil {
		return nil, err
	}
	answers := func(l load) []time.Duration { return l.answers }
	const transaction = "such a transaction at the same rate, in this process"
	beside := fmt.Sprintf("such transactions, due at the same times: %s/s, %d in all", short(rate), len(joined(taken.raw[0], answers)))
	found = slices.Concat(
		taken.each(".cpu", "ms/command", transaction, func(l load) float64 { return l.use.cpu }),
		taken.each(".allocs", "allocations/command", transaction, func(l load) float64 { return l.use.allocs }),
		taken.each(".p50", "ms", beside, func(l load) float64 { return percentile(l.answers, 0.5) }),
	)
	row := taken.row
	row.Unit, row.Beside = "ms", beside
	for _, tail := range []float64{99, 99.9} {
		row.Name = fmt.Sprintf("%s.p%g", name, tail)
		found = append(found, row.tail(s.labs, taken.systems, taken.raw, tail/100, answers)...)
	}
	return found, nil
}
