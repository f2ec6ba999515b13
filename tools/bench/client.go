package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// visibleEvery is the number of a client's posts per measurement of visibility: often enough for a percentile, seldom
// enough not to add load.
const visibleEvery = 25

// loadClient posts messages one after the other and measures durations.
type loadClient struct {
	user    string
	threads []string
	write   *rawConnection
	read    *rawConnection
	blind   bool // never measure visibility

	posted  int // acknowledged posts, including the warm-up
	answers []time.Duration
	visible []time.Duration // from the answer until GraphQL shows the message
	again   []time.Duration // the same query repeated
	last    answer
	failure error
}

func newClient(ctx context.Context, system *runningSystem, user string, threads []string) (*loadClient, error) {
	write, err := connect(ctx, system.writeAddress, "/threads/post_message", system.token)
	if err != nil {
		return nil, err
	}
	read, err := connect(ctx, system.readAddress, "/graphql", system.token)
	if err != nil {
		write.close()
		return nil, err
	}
	return &loadClient{user: user, threads: threads, write: write, read: read}, nil
}

// run posts until the time is over or a request fails, because then its connection is unusable.
func (c *loadClient) run(ctx context.Context, number int, measureFrom, until time.Time) {
	defer c.close()
	for post := number; ctx.Err() == nil && time.Now().Before(until) && c.failure == nil; post++ {
		c.failure = c.step(post, number, measureFrom)
	}
}

func (c *loadClient) step(post, number int, measureFrom time.Time) error {
	begun := time.Now()
	err := c.send(post)
	shown := time.Now()
	if err != nil {
		return err
	}
	if begun.Before(measureFrom) {
		return nil
	}
	c.answers = append(c.answers, shown.Sub(begun))
	if c.blind || (post-number)%visibleEvery != 0 {
		return nil
	}
	if err := c.see(c.last); err != nil {
		return err
	}
	seen := time.Now()
	err = c.see(c.last)
	c.visible, c.again = append(c.visible, seen.Sub(shown)), append(c.again, time.Since(seen))
	return err
}

// send posts a message.
func (c *loadClient) send(post int) error {
	answered, err := c.write.post("", c.body(post))
	if err != nil {
		return err
	}
	c.posted++
	return json.Unmarshal(answered, &c.last)
}

// body returns a message to the next of the threads in turn.
func (c *loadClient) body(post int) []byte {
	return fmt.Appendf(nil, `{"executor_id":%q,"thread_id":%q,"text":"message %d"}`, c.user, c.threads[post%len(c.threads)], post)
}

func (c *loadClient) close() {
	c.write.close()
	c.read.close()
}

// see returns when GraphQL shows the version in an answer.
func (c *loadClient) see(posted answer) error {
	query := fmt.Appendf(nil, `{"query":"query($thread: ID!, $viewer: ID!) { getThread(threadId: $thread, userAccountId: $viewer) { version } }",`+
		`"variables":{"thread":%q,"viewer":%q}}`, posted.Thread, c.user)
	text, err := c.read.post(posted.Thread+":"+strconv.Itoa(posted.Version), query)
	if err != nil {
		return err
	}
	var shown struct {
		Errors []struct{ Message string }
	}
	if err := json.Unmarshal(text, &shown); err != nil {
		return err
	}
	if len(shown.Errors) > 0 {
		return errors.New(shown.Errors[0].Message)
	}
	return nil
}
