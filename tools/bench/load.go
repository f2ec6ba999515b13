package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// load is the result of the clients' posts.
type load struct {
	perSecond      float64
	posted         int // acknowledged posts, including the warm-up
	answers        []time.Duration
	visible, again []time.Duration // until GraphQL shows a message, and the same query repeated
	last           []answer        // of each client
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

// post lets clients post to threads, and measures after the warm-up.
func (s *runningSystem) post(ctx context.Context, j job) (load, error) {
	posters := make([]*loadClient, j.clients)
	for i := range posters {
		c, err := newClient(ctx, s, j.user, j.threads)
		if err != nil {
			return load{}, err
		}
		c.blind = j.blind
		posters[i] = c
	}
	measureFrom := time.Now().Add(j.warmUp)
	until := measureFrom.Add(j.duration)
	var group sync.WaitGroup
	for i, c := range posters {
		group.Go(func() { c.run(ctx, i, measureFrom, until) })
	}
	group.Wait()
	var done load
	var failed error
	for _, c := range posters {
		done.answers = append(done.answers, c.answers...)
		done.visible, done.again = append(done.visible, c.visible...), append(done.again, c.again...)
		done.posted += c.posted
		done.last = append(done.last, c.last)
		if failed == nil {
			failed = c.failure
		}
	}
	done.perSecond = float64(len(done.answers)) / j.duration.Seconds()
	return done, errors.Join(failed, ctx.Err())
}

// writeSQLite measures 32 clients that post to 32 threads of the standalone program.
func writeSQLite(ctx context.Context, l *lab) ([]reading, error) {
	const clients = 32
	system, err := l.start(ctx)
	if err != nil {
		return nil, err
	}
	defer system.stop()
	user := ulid.Make().String()
	threads, err := system.newThreads(ctx, user, clients)
	if err != nil {
		return nil, err
	}
	done, err := system.post(ctx, job{user: user, clients: clients, threads: threads, warmUp: l.warmUp, duration: l.duration})
	if err != nil {
		return nil, err
	}
	system.stop() // the yardstick must run alone
	raw, rawCPU, err := rawSQLite(ctx, l.folder, l.duration)
	if err != nil {
		return nil, err
	}
	appended, err := appends(ctx, l.folder, clients, l.duration)
	if err != nil {
		return nil, err
	}
	share, err := shares(ctx, l.folder, 4, l.duration)
	if err != nil {
		return nil, err
	}
	const transactions = "raw SQLite transactions of one row, as durable, one after the other"
	return []reading{
		{"write.sqlite.c32", "commands/s", done.perSecond, raw, transactions},
		{"write.sqlite.c32.p50", "ms", percentile(done.answers, 0.5), 1000 / raw, "such a transaction"},
		{"write.sqlite.c32.p99", "ms", percentile(done.answers, 0.99), 1000 / raw, "such a transaction"},
		{"write.sqlite.c32.cpu", "ms/command", millis(system.cpu()) / float64(done.posted), rawCPU, "such a transaction; the command is projected, too"},
		{"write.sqlite.appends", "appends/s", appended, raw, transactions},
		{"write.sqlite.share", "of a poster", share, 1, "an even share of one thread, for each of 8 posters at two writers"},
		{"projection.lag", "ms", percentile(done.visible, 0.5), percentile(done.again, 0.5), "the same query of what is visible; both under this load"},
		{"projection.lag.p99", "ms", percentile(done.visible, 0.99), percentile(done.again, 0.99), "the same query of what is visible; both under this load"},
	}, nil
}
