package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// measure has all clients post, and looks at what they did after the warm-up.
func measure(ctx context.Context, system *system, s settings) (figures, error) {
	user := ulid.Make().String()
	threads := make([]string, s.threads)
	for i := range threads {
		id, err := system.createThread(ctx, user, fmt.Sprintf("thread %d", i))
		if err != nil {
			return figures{}, err
		}
		threads[i] = id
	}
	clients := make([]*client, s.clients)
	for i := range clients {
		c, err := newClient(ctx, system, user, threads)
		if err != nil {
			return figures{}, err
		}
		clients[i] = c
	}

	measureFrom := time.Now().Add(s.warmUp)
	until := measureFrom.Add(s.duration)
	var group sync.WaitGroup
	for i, c := range clients {
		group.Go(func() { c.run(ctx, i, measureFrom, until) })
	}
	group.Wait()
	f := figuresOf(clients, s)
	if f.posted == 0 {
		return f, errors.Join(ctx.Err(), f.failure)
	}
	return f, ctx.Err()
}

func figuresOf(clients []*client, s settings) figures {
	f := figures{Clients: s.clients, Threads: s.threads}
	var answers, visible []time.Duration
	for _, c := range clients {
		answers = append(answers, c.answers...)
		visible = append(visible, c.visible...)
		f.posted += c.posted
		f.Failures += c.failures
		if c.failure != nil {
			f.failure = c.failure
		}
	}
	f.Commands = len(answers) + f.Failures
	f.CommandsPerSecond = float64(len(answers)) / s.duration.Seconds()
	f.AnswerP50, f.AnswerP99 = percentile(answers, 0.50), percentile(answers, 0.99)
	f.VisibleP50, f.VisibleP99 = percentile(visible, 0.50), percentile(visible, 0.99)
	f.VisibleSamples = len(visible)
	return f
}
