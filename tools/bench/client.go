package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// visibleEvery is how many posts of a client lie between two of which it waits to see them: often enough for a
// percentile, seldom enough not to become the load.
const visibleEvery = 25

// client posts one message after the other and notes how long things took.
type client struct {
	user    string
	threads []string
	write   *connection
	read    *connection

	posted   int // all that were acknowledged, the warm-up included
	answers  []time.Duration
	visible  []time.Duration
	failures int
	failure  error // the last one
}

func newClient(ctx context.Context, system *system, user string, threads []string) (*client, error) {
	write, err := connect(ctx, system.writeAddress, "/threads/post_message")
	if err != nil {
		return nil, err
	}
	read, err := connect(ctx, system.readAddress, "/graphql")
	if err != nil {
		write.close()
		return nil, err
	}
	return &client{user: user, threads: threads, write: write, read: read}, nil
}

// run posts until the time is over. A failure ends it, too: its connection is of no more use.
func (c *client) run(ctx context.Context, number int, measureFrom, until time.Time) {
	defer c.write.close()
	defer c.read.close()
	for post := number; ctx.Err() == nil && time.Now().Before(until); post++ {
		body := fmt.Appendf(nil, `{"executor_id":%q,"thread_id":%q,"text":"message %d of client %d"}`, c.user, c.threads[post%len(c.threads)], post, number)
		begun := time.Now()
		answered, err := c.write.post("", body)
		shown := time.Now()
		if err != nil {
			c.failures, c.failure = c.failures+1, err
			return
		}
		c.posted++
		if begun.Before(measureFrom) {
			continue
		}
		c.answers = append(c.answers, shown.Sub(begun))
		if post%visibleEvery == 0 {
			if err := c.see(answered); err != nil {
				c.failures, c.failure = c.failures+1, err
				return
			}
			c.visible = append(c.visible, time.Since(shown))
		}
	}
}

// see returns when GraphQL shows the message of an answer.
func (c *client) see(answered []byte) error {
	var posted answer
	if err := json.Unmarshal(answered, &posted); err != nil {
		return err
	}
	query := fmt.Appendf(nil, `{"query":"query($message: ID!, $viewer: ID!) { getMessage(messageId: $message, userAccountId: $viewer) { id } }",`+
		`"variables":{"message":%q,"viewer":%q}}`, posted.Message, c.user)
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
