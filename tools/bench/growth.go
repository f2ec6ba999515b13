package main

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"
)

// Numbers of messages in the compared threads.
const (
	smallThread = 10
	largeThread = 100_000
)

const ofSmall = "a thread of 10 messages"

// writeGrowth measures posts to a thread of 100,000 messages and to small threads, including snapshots.
func writeGrowth(ctx context.Context, labs []*lab) (found []reading, err error) {
	user := ulid.Make().String()
	var systems []*runningSystem
	var large []string
	for _, l := range labs {
		system, err := l.start(ctx)
		if err != nil {
			return nil, err
		}
		defer system.stop()
		l.say("%d messages", largeThread)
		thread, err := system.grow(ctx, user, largeThread)
		if err != nil {
			return nil, err
		}
		systems, large = append(systems, system), append(large, thread)
	}
	for _, row := range []struct {
		name, unit string
		clients    int
		figure     func(load) float64
	}{
		{"write.growth.latency", "ms", 1, func(l load) float64 { return percentile(l.answers, 0.5) }},
		{"write.growth.rate", "commands/s", mostClients, perSecondOf},
	} {
		var toLarge, toSmall []taker
		for i, system := range systems {
			post := func(ctx context.Context, duration time.Duration, thread string) (load, error) {
				return system.post(ctx, job{user: user, clients: row.clients, threads: []string{thread}, duration: duration, blind: true})
			}
			toLarge = append(toLarge, func(ctx context.Context, duration time.Duration) (load, error) { return post(ctx, duration, large[i]) })
			toSmall = append(toSmall, func(ctx context.Context, duration time.Duration) (load, error) {
				small, err := system.grow(ctx, user, smallThread) // a new one, because it grows
				if err != nil {
					return load{}, err
				}
				return post(ctx, duration, small)
			})
		}
		taken, err := inTurns(ctx, labs, slices.Concat(toLarge, toSmall)...)
		if err != nil {
			return nil, err
		}
		beside := fmt.Sprintf("%s; clients: %d", ofSmall, row.clients)
		found = append(found, reading{Name: row.name, Unit: row.unit, Beside: beside, Without: outside}.
			each(labs, taken[:len(labs)], taken[len(labs):], row.figure)...)
	}
	return found, nil
}

// grow creates a thread with so many messages and waits until it is projected.
func (s *runningSystem) grow(ctx context.Context, user string, messages int) (string, error) {
	thread, err := s.createThread(ctx, user, "a thread that grows")
	if err != nil {
		return "", err
	}
	var left atomic.Int64
	left.Store(int64(messages))
	group, groupCtx := errgroup.WithContext(ctx)
	for i := range min(32, messages) {
		group.Go(func() error {
			c, err := newClient(groupCtx, s, user, []string{thread})
			if err != nil {
				return err
			}
			defer c.close()
			for left.Add(-1) >= 0 && groupCtx.Err() == nil {
				if _, err := c.write.post("", c.body(i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return "", err
	}
	return thread, s.awaitVersion(ctx, user, thread, messages+1)
}

// awaitVersion waits until GraphQL shows a version of a thread.
func (s *runningSystem) awaitVersion(ctx context.Context, user, thread string, version int) error {
	c, err := newClient(ctx, s, user, []string{thread})
	if err != nil {
		return err
	}
	defer c.close()
	for begun := time.Now(); ; {
		err := c.see(answer{Thread: thread, Version: version})
		if err == nil || time.Since(begun) > startTimeout || ctx.Err() != nil {
			return err
		}
	}
}
