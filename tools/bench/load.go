package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// visibleEvery is how many posts of a client lie between two of which it waits to see them: often enough for a
// percentile, seldom enough not to become the load.
const visibleEvery = 10

// client posts one message after the other and notes how long things took.
type client struct {
	system   *system
	user     string
	threads  []string
	answers  []time.Duration
	visible  []time.Duration
	failures int
	failure  error // the last one
}

// measure has all clients post, and looks at what they did after the warm-up.
func measure(ctx context.Context, system *system, s settings) (figures, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 2 * s.clients
	transport.MaxIdleConns = 0
	system.http = &http.Client{Transport: transport, Timeout: 30 * time.Second}

	user := ulid.Make().String()
	threads := make([]string, s.threads)
	for i := range threads {
		a, err := system.post(ctx, "/threads/create", map[string]any{"executor_id": user, "name": fmt.Sprintf("thread %d", i)})
		if err != nil {
			return figures{}, err
		}
		threads[i] = a.Thread
	}

	measureFrom := time.Now().Add(s.warmUp)
	until := measureFrom.Add(s.duration)
	clients := make([]*client, s.clients)
	var group sync.WaitGroup
	for i := range clients {
		c := &client{system: system, user: user, threads: threads}
		clients[i] = c
		group.Go(func() { c.run(ctx, i, measureFrom, until) })
	}
	group.Wait()

	f := figures{Clients: s.clients, Threads: s.threads}
	var answers, visible []time.Duration
	for _, c := range clients {
		answers = append(answers, c.answers...)
		visible = append(visible, c.visible...)
		f.Failures += c.failures
		if c.failure != nil && len(answers) == 0 {
			return f, c.failure
		}
	}
	f.Commands = len(answers) + f.Failures
	f.CommandsPerSecond = float64(len(answers)) / s.duration.Seconds()
	f.AnswerP50, f.AnswerP99 = percentile(answers, 0.50), percentile(answers, 0.99)
	f.VisibleP50, f.VisibleP99 = percentile(visible, 0.50), percentile(visible, 0.99)
	f.VisibleSamples = len(visible)
	return f, ctx.Err()
}

func (c *client) run(ctx context.Context, number int, measureFrom, until time.Time) {
	for post := number; ctx.Err() == nil && time.Now().Before(until); post++ {
		body := map[string]any{
			"executor_id": c.user, "thread_id": c.threads[post%len(c.threads)], "text": fmt.Sprintf("message %d of client %d", post, number),
		}
		begun := time.Now()
		answered, err := c.system.post(ctx, "/threads/post_message", body)
		took := time.Since(begun)
		if begun.Before(measureFrom) {
			continue
		}
		if err != nil {
			c.failures, c.failure = c.failures+1, err
			continue
		}
		c.answers = append(c.answers, took)
		if post%visibleEvery == 0 {
			shown := time.Now()
			if err := c.system.see(ctx, c.user, answered); err != nil {
				c.failures, c.failure = c.failures+1, err
				continue
			}
			c.visible = append(c.visible, time.Since(shown))
		}
	}
}
