package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// load is the result of the clients' posts, or of a yardstick's transactions.
type load struct {
	perSecond      float64
	posted         int // acknowledged posts, including the warm-up
	answers        []time.Duration
	visible, again []time.Duration // until GraphQL shows a message, and the same query repeated
	last           []answer        // of each client that posted
	use            use             // per post
}

// repeat calls work in a goroutine per client until the time is over, and counts the calls.
func repeat(ctx context.Context, clients int, duration time.Duration, work func(ctx context.Context, client int) error) (done load, err error) {
	var count atomic.Int64
	begun := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for client := range clients {
		group.Go(func() error {
			for ctx.Err() == nil && time.Since(begun) < duration {
				if err := work(ctx, client); err != nil {
					return err
				}
				count.Add(1)
			}
			return nil
		})
	}
	err = group.Wait()
	done.posted = int(count.Load())
	done.perSecond = float64(done.posted) / time.Since(begun).Seconds()
	return done, err
}

// newThreads creates threads of one user.
func (s *runningSystem) newThreads(ctx context.Context, user string, count int) ([]string, error) {
	threads := make([]string, count)
	for i := range threads {
		id, err := s.createThread(ctx, user, fmt.Sprintf("thread %d", i))
		if err != nil {
			return nil, err
		}
		threads[i] = id
	}
	return threads, nil
}

// job is the task of the clients.
type job struct {
	user             string
	clients          int
	threads          []string
	warmUp, duration time.Duration
	blind            bool // they never measure visibility
}

// post lets clients post, and measures after the warm-up. If there are as many threads as clients, each has its own.
func (s *runningSystem) post(ctx context.Context, j job) (load, error) {
	posters, err := s.posters(ctx, j)
	if err != nil {
		return load{}, err
	}
	measureFrom := time.Now().Add(j.warmUp)
	until := measureFrom.Add(j.duration)
	var group sync.WaitGroup
	for i, c := range posters {
		group.Go(func() { c.run(ctx, i, measureFrom, until) })
	}
	group.Wait()
	done, err := together(posters)
	done.perSecond = float64(len(done.answers)) / time.Since(measureFrom).Seconds()
	return done, errors.Join(err, ctx.Err())
}

// postAtRate lets clients post so often per second, whether or not earlier posts are answered.
func (s *runningSystem) postAtRate(ctx context.Context, j job, rate float64) (load, error) {
	posters, err := s.posters(ctx, j)
	if err != nil {
		return load{}, err
	}
	took, err := openLoad(ctx, rate, j.duration, j.clients, func(_ context.Context, i int) error { return posters[i].send(i) })
	for _, c := range posters {
		c.close()
	}
	done, _ := together(posters)
	done.answers = took
	return done, err
}

func (s *runningSystem) posters(ctx context.Context, j job) (posters []*loadClient, err error) {
	for i := range j.clients {
		threads := j.threads
		if len(threads) == j.clients {
			threads = threads[i : i+1]
		}
		c, err := newClient(ctx, s, j.user, threads)
		if err != nil {
			return nil, err
		}
		c.blind = j.blind
		posters = append(posters, c)
	}
	return posters, nil
}

// together joins what clients have done. The error is the first one's that failed.
func together(posters []*loadClient) (done load, failed error) {
	for _, c := range posters {
		done.answers = append(done.answers, c.answers...)
		done.visible, done.again = append(done.visible, c.visible...), append(done.again, c.again...)
		done.posted += c.posted
		if c.posted > 0 {
			done.last = append(done.last, c.last)
		}
		if failed == nil {
			failed = c.failure
		}
	}
	return done, failed
}

// take returns a taker that posts, and then waits until GraphQL shows the posts, so that no one else's turn has their
// projection. rate is of an open load; 0: each client waits for its answer.
func (s *runningSystem) take(j job, rate float64) taker {
	post := watched(s.usage, func(ctx context.Context, duration time.Duration) (load, error) {
		j.duration = duration
		if rate > 0 {
			return s.postAtRate(ctx, j, rate)
		}
		return s.post(ctx, j)
	})
	return func(ctx context.Context, duration time.Duration) (load, error) {
		done, err := post(ctx, duration)
		for _, last := range done.last {
			err = errors.Join(err, s.awaitVersion(ctx, j.user, last.Thread, last.Version))
		}
		return done, err
	}
}
