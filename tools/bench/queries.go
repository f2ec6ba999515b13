package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
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

// asked is a GraphQL query: the text that is counted in its answer, and a reader of the same rows in the database.
type asked struct {
	name      string
	row       string // appears once per row in the answer
	rows      int
	yardstick func(*rowReader, context.Context) (int, error) // returns the number of rows read
}

// place is a build's program with the rows that are queried.
type place struct {
	system        *runningSystem
	viewer, other string
	long          answer
	short         []string // tokens
	reader        *rowReader
}

// queries measures queries over HTTP with eight clients on persistent connections, and as yardstick a loop of prepared
// sqlx statements on this build's read model.
func queries(ctx context.Context, labs []*lab) (found []reading, err error) {
	var places []*place
	for _, l := range labs {
		p, err := l.fillPlace(ctx)
		if p != nil {
			defer p.system.stop()
		}
		if err != nil {
			return nil, err
		}
		defer p.reader.close()
		places = append(places, p)
	}
	for _, query := range []struct {
		asked
		document func(*place) string
		tokens   func(*place) []string
	}{
		{
			asked{name: "query.messages100.c8", row: `"createdAt":`, rows: longThread, yardstick: (*rowReader).messages},
			func(p *place) string {
				return fmt.Sprintf(`{ getMessages(threadId: %q, userAccountId: %q, first: 100) { id threadId userAccountId text createdAt updatedAt } }`, p.long.Thread, p.viewer)
			},
			func(p *place) []string { return []string{p.long.token()} },
		},
		{
			asked{name: "query.nested.c8", row: `"id":`, rows: shortThreads * (1 + shortMembers + shortThread), yardstick: (*rowReader).nested},
			func(p *place) string {
				return fmt.Sprintf(`{ threads(userAccountId: %q, first: %d) { edges { node { id name updatedAt
				members(first: 10) { edges { node { id userAccountId role } } }
				messages(last: 10) { edges { node { id userAccountId text createdAt } } } } } } }`, p.other, shortThreads)
			},
			func(p *place) []string { return p.short },
		},
	} {
		var takers []taker
		for _, p := range places {
			ask, err := query.ask(ctx, p.system, query.document(p), query.tokens(p))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", query.name, err)
			}
			takers = append(takers, ask)
		}
		taken, err := inTurns(ctx, labs, append(takers, query.read(places[0].reader))...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", query.name, err)
		}
		row := reading{Name: query.name, Unit: "queries/s", Beside: "a loop of prepared sqlx statements on the same rows", Without: outside + meanwhile}
		found = append(found, row.each(labs, taken[:len(labs)], taken[len(labs):], perSecondOf)...)
	}
	return found, nil
}

// fillPlace starts the program on its own data. After an error the place, if there is one, has no reader.
func (l *lab) fillPlace(ctx context.Context) (*place, error) {
	system, err := l.start(ctx)
	if err != nil {
		return nil, err
	}
	p := &place{system: system, viewer: ulid.Make().String(), other: ulid.Make().String()}
	if p.long, err = system.fill(ctx, p.viewer, 1, longThread); err != nil {
		return p, err
	}
	for range shortThreads {
		short, err := system.fill(ctx, p.other, shortMembers, shortThread)
		if err != nil {
			return p, err
		}
		p.short = append(p.short, short.token())
	}
	p.reader, err = openRows(ctx, system.readModel(), p.long.Thread, p.other)
	return p, err
}

// ask waits until the read model has all rows. It returns a taker that repeats the query.
func (a asked) ask(ctx context.Context, system *runningSystem, document string, tokens []string) (taker, error) {
	body, err := json.Marshal(map[string]string{"query": document})
	if err != nil {
		return nil, err
	}
	first, err := connect(ctx, system.readAddress, "/graphql", "")
	if err != nil {
		return nil, err
	}
	defer first.close()
	text, err := first.post(strings.Join(tokens, ","), body)
	if err != nil {
		return nil, err
	}
	if got := bytes.Count(text, []byte(a.row)); got != a.rows {
		return nil, fmt.Errorf("the answer has %d rows, and %d are there: %.300s", got, a.rows, text)
	}
	size := len(text)
	return func(ctx context.Context, duration time.Duration) (_ load, err error) {
		connections := make([]*rawConnection, queryClients)
		for i := range connections {
			if connections[i], err = connect(ctx, system.readAddress, "/graphql", ""); err != nil {
				return load{}, err
			}
			defer connections[i].close()
		}
		return repeat(ctx, queryClients, duration, func(_ context.Context, client int) error {
			text, err := connections[client].post("", body)
			if err != nil || len(text) != size {
				return fmt.Errorf("an answer of %d bytes, not %d: %w", len(text), size, err)
			}
			return nil
		})
	}, nil
}

// read returns a taker that reads the same rows without the program.
func (a asked) read(reader *rowReader) taker {
	return func(ctx context.Context, duration time.Duration) (load, error) {
		return repeat(ctx, queryClients, duration, func(ctx context.Context, _ int) error {
			read, err := a.yardstick(reader, ctx)
			if err != nil || read != a.rows {
				return fmt.Errorf("the yardstick reads %d rows, not %d: %w", read, a.rows, err)
			}
			return nil
		})
	}
}
