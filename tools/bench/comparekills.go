package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/threads/es"
)

// The times of a kill test: the program is killed, started again, and the clients stop.
const (
	killClients  = 8
	killAfter    = 1500 * time.Millisecond
	restartAfter = time.Second
	killEnd      = 4500 * time.Millisecond
)

// killed posts with eight clients while a program is killed and started again.
func (c *contender) killed(ctx context.Context, phase string, role int) (ids []string, done posts, restarted time.Time, err error) {
	if ids, err = c.newThreads(ctx, killClients); err != nil {
		return nil, done, restarted, err
	}
	finished := make(chan posts, 1)
	begun := time.Now()
	go func() { finished <- c.load(ctx, phase, ids, toWriter, begun, begun.Add(killEnd)) }()
	_ = es.Wait(ctx, killAfter)
	c.kill(role)
	_ = es.Wait(ctx, restartAfter)
	restarted = time.Now()
	_, err = c.start(ctx, role)
	return ids, <-finished, restarted, err
}

// killWriter counts acknowledged posts that are lost when the program that took them is killed.
func (c *contender) killWriter(ctx context.Context, add func(string, float64)) error {
	ids, done, _, err := c.killed(ctx, "writer", roleWriter)
	if err != nil {
		return err
	}
	if done.unanswered == 0 {
		return errors.New("no client noticed the kill")
	}
	if _, err := c.settle(ctx, "writer", done.acknowledged, quiet); err != nil {
		return err
	}
	journal, query, err := c.verdicts(ctx, "writer", ids, done.acknowledged)
	add("writer.posts", float64(len(done.acknowledged)))
	add("writer.journal.missing", float64(journal.missing))
	add("writer.query.missing", float64(query.missing))
	return err
}

// killUpdater counts rows that are missing or double after the updater was killed, and measures from its start until it
// has caught up: -1 if it never does.
func (c *contender) killUpdater(ctx context.Context, add func(string, float64)) error {
	ids, done, restarted, err := c.killed(ctx, "updater", roleUpdater)
	if err != nil {
		return err
	}
	if done.refused+done.unanswered > 0 {
		return fmt.Errorf("%d posts refused, %d unanswered: %w", done.refused, done.unanswered, done.reason)
	}
	last, err := c.settle(ctx, "updater", done.acknowledged, quietAfterKill)
	if err != nil {
		return err
	}
	_, query, err := c.verdicts(ctx, "updater", ids, done.acknowledged)
	caught := millis(last.Sub(restarted))
	if query.missing > 0 {
		caught = -1
	}
	add("updater.posts", float64(len(done.acknowledged)))
	add("updater.missing", float64(query.missing))
	add("updater.double", float64(query.double))
	add("updater.caught", caught)
	return err
}

// repeat sends commands twice with the same key, as a client does that has lost the answer.
func (c *contender) repeat(ctx context.Context, add func(string, float64)) error {
	ids, err := c.newThreads(ctx, 1)
	if err != nil {
		return err
	}
	for number := range repeats {
		text := textOf("repeat", 0, number)
		for range 2 {
			if _, err := c.post(ctx, c, roleWriter, ids[0], text, fmt.Sprintf("repeat-%d", number)); err != nil {
				return err
			}
		}
	}
	stored, err := c.stored(ctx)
	add("repeat.double", float64(judge("repeat", nil, stored).double))
	return err
}

// twoWriters lets two programs write to one thread at once, each with a client.
func (c *contender) twoWriters(ctx context.Context, add func(string, float64)) error {
	if _, err := c.start(ctx, roleSecondWriter); err != nil {
		return err
	}
	ids, err := c.newThreads(ctx, 1)
	if err != nil {
		return err
	}
	begun := time.Now()
	done := c.load(ctx, "both", []string{ids[0], ids[0]}, func(client int) int { return []int{roleWriter, roleSecondWriter}[client] }, begun, begun.Add(c.lab.duration))
	if done.unanswered > 0 {
		return fmt.Errorf("%d posts unanswered: %w", done.unanswered, done.reason)
	}
	stored, err := c.stored(ctx)
	lost := judge("both", done.acknowledged, stored)
	add("both.posts", float64(len(done.answers))/c.lab.duration.Seconds())
	add("both.refused", 100*float64(done.refused)/float64(done.refused+len(done.acknowledged)))
	add("both.missing", float64(lost.missing))
	return err
}
