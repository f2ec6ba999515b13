package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"
)

// The rows of the measured queries: the first thread has many messages, each of the others has a few.
const (
	queryClients  = 8
	longThread    = 100 // messages
	shortThreads  = 20
	shortThread   = 10 // messages
	shortMembers  = 5
	messageLength = 80
)

// asked is a GraphQL query, the text that is counted in its answer, and a reader of the same rows in the database.
type asked struct {
	name      string
	document  string
	row       string // appears once per row in the answer
	rows      int
	yardstick func(*rowReader, context.Context) (int, error) // returns the number of rows read
}

// queries starts the program on its own data. It measures queries over HTTP with eight clients on persistent
// connections, and as yardsticks loops of prepared sqlx statements on the same read model's file.
func queries(ctx context.Context, l *lab) ([]reading, error) {
	system, err := l.start(ctx)
	if err != nil {
		return nil, err
	}
	defer system.stop()
	viewer := ulid.Make().String()
	long, err := system.fill(ctx, viewer, 1, longThread)
	if err != nil {
		return nil, err
	}
	other := ulid.Make().String()
	var tokens []string
	for range shortThreads {
		short, err := system.fill(ctx, other, shortMembers, shortThread)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, short.token())
	}
	reader, err := openRows(ctx, system.readModel(), long.Thread, other)
	if err != nil {
		return nil, err
	}
	defer reader.close()

	var found []reading
	for _, query := range []struct {
		asked
		tokens []string
	}{
		{asked{
			name: "query.messages100.c8", row: `"createdAt":`, rows: longThread, yardstick: (*rowReader).messages,
			document: fmt.Sprintf(`{ getMessages(threadId: %q, userAccountId: %q, first: 100) { id threadId userAccountId text createdAt updatedAt } }`, long.Thread, viewer),
		}, []string{long.token()}},
		{asked{
			name: "query.nested.c8", row: `"id":`, rows: shortThreads * (1 + shortMembers + shortThread), yardstick: (*rowReader).nested,
			document: fmt.Sprintf(`{ threads(userAccountId: %q, first: %d) { edges { node { id name updatedAt
				members(first: 10) { edges { node { id userAccountId role } } }
				messages(last: 10) { edges { node { id userAccountId text createdAt } } } } } } }`, other, shortThreads),
		}, tokens},
	} {
		figure, err := query.measure(ctx, system, reader, query.tokens, l.duration)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", query.name, err)
		}
		found = append(found, figure)
	}
	return found, nil
}

// measure waits until the read model has all rows, and then repeats the query.
func (a asked) measure(ctx context.Context, system *runningSystem, reader *rowReader, tokens []string, duration time.Duration) (reading, error) {
	figure := reading{Name: a.name, Unit: "queries/s", Beside: "a loop of prepared sqlx statements on the same rows"}
	body, err := json.Marshal(map[string]string{"query": a.document})
	if err != nil {
		return figure, err
	}
	first, err := connect(ctx, system.readAddress, "/graphql", "")
	if err != nil {
		return figure, err
	}
	defer first.close()
	text, err := first.post(strings.Join(tokens, ","), body)
	if err != nil {
		return figure, err
	}
	if got := bytes.Count(text, []byte(a.row)); got != a.rows {
		return figure, fmt.Errorf("the answer has %d rows, and %d are there: %.300s", got, a.rows, text)
	}
	size := len(text)
	figure.Value, err = perSecond(ctx, duration, func(ctx context.Context, running func() bool) (count int, err error) {
		connection, err := connect(ctx, system.readAddress, "/graphql", "")
		if err != nil {
			return 0, err
		}
		defer connection.close()
		for ; running(); count++ {
			text, err := connection.post("", body)
			if err != nil || len(text) != size {
				return count, fmt.Errorf("an answer of %d bytes, not %d: %w", len(text), size, err)
			}
		}
		return count, nil
	})
	if err != nil {
		return figure, err
	}
	figure.Yardstick, err = perSecond(ctx, duration, func(ctx context.Context, running func() bool) (count int, err error) {
		for ; running(); count++ {
			read, err := a.yardstick(reader, ctx)
			if err != nil || read != a.rows {
				return count, fmt.Errorf("the yardstick reads %d rows, not %d: %w", read, a.rows, err)
			}
		}
		return count, nil
	})
	return figure, err
}

// perSecond runs work in a goroutine per client and returns the sum of their counts per second.
func perSecond(ctx context.Context, duration time.Duration, work func(ctx context.Context, running func() bool) (int, error)) (float64, error) {
	var total atomic.Int64
	begun := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for range queryClients {
		group.Go(func() error {
			count, err := work(ctx, func() bool { return ctx.Err() == nil && time.Since(begun) < duration })
			total.Add(int64(count))
			return err
		})
	}
	err := group.Wait()
	return float64(total.Load()) / time.Since(begun).Seconds(), err
}
