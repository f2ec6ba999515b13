package main

import (
	"context"
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
func writeGrowth(ctx context.Context, l *lab) ([]reading, error) {
	system, err := l.start(ctx)
	if err != nil {
		return nil, err
	}
	defer system.stop()
	user := ulid.Make().String()
	large, err := system.grow(ctx, user, largeThread)
	if err != nil {
		return nil, err
	}
	// Each is measured in two halves, in this order, so that slow changes affect both.
	var latency, rate [2]float64
	for _, clients := range []int{1, 32} {
		for _, which := range []int{0, 1, 1, 0} {
			thread := large
			if which == 1 {
				if thread, err = system.grow(ctx, user, smallThread); err != nil {
					return nil, err
				}
			}
			done, err := system.post(ctx, job{user: user, clients: clients, threads: []string{thread}, warmUp: l.warmUp / 4, duration: l.duration / 4, blind: true})
			if err != nil {
				return nil, err
			}
			if clients == 1 {
				latency[which] += percentile(done.answers, 0.5) / 2
			} else {
				rate[which] += done.perSecond / 2
			}
		}
	}
	return []reading{
		{"write.growth.latency", "ms", latency[0], latency[1], ofSmall + "; one client, median"},
		{"write.growth.rate", "commands/s", rate[0], rate[1], ofSmall + "; 32 clients"},
	}, nil
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
