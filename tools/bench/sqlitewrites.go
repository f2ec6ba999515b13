package main

import (
	"context"
	"slices"
	"time"
)

const rawRow = "raw SQLite transactions of one row, as durable, one after the other"

// writeSQLite measures 32 clients that post to the standalone program, each to a thread of its own.
func writeSQLite(ctx context.Context, labs []*lab) ([]reading, error) {
	s := newStage(labs)
	defer s.stop()
	for _, l := range labs {
		system, err := l.start(ctx)
		if err != nil {
			return nil, err
		}
		if err := s.add(ctx, system); err != nil {
			return nil, err
		}
	}
	rows, err := openRaw(ctx, labs[0].folder)
	if err != nil {
		return nil, err
	}
	defer rows.close()
	s.raw, s.serial, s.yardstick, s.without = rows.insertOne, true, rawRow, outside
	if err := s.warmUp(ctx); err != nil {
		return nil, err
	}
	full, err := s.take(ctx, "write.sqlite.c32", mostClients, false, 0)
	if err != nil {
		return nil, err
	}
	open, err := s.open(ctx, "write.sqlite.open", full)
	if err != nil {
		return nil, err
	}
	lag, err := s.lag(ctx)
	return slices.Concat(full.rates(), open, lag), err
}

// lag measures how long after the answer GraphQL shows a post, while 32 clients post.
func (s *stage) lag(ctx context.Context) (found []reading, err error) {
	var takers []taker
	for i, system := range s.systems {
		takers = append(takers, system.take(job{user: s.user, clients: mostClients, threads: s.threads[i]}, 0))
	}
	s.labs[0].say("projection.lag")
	taken, err := inTurns(ctx, s.labs, takers...)
	if err != nil {
		return nil, err
	}
	repeated := make([][]load, len(taken))
	for i, turns := range taken {
		for _, turn := range turns {
			repeated[i] = append(repeated[i], load{visible: turn.again})
		}
	}
	row := reading{Unit: "ms", Beside: "the same query of what is visible; both while 32 clients post", Without: s.without}
	for _, tail := range []struct {
		name  string
		share float64
	}{{"projection.lag", 0.5}, {"projection.lag.p99", 0.99}} {
		row.Name = tail.name
		found = append(found, row.tail(s.labs, taken, repeated, tail.share, func(l load) []time.Duration { return l.visible })...)
	}
	return found, nil
}

// writeLibrary measures the event store on SQLite in this process.
func writeLibrary(ctx context.Context, l *lab) ([]reading, error) {
	rows, err := openRaw(ctx, l.folder)
	if err != nil {
		return nil, err
	}
	defer rows.close()
	appends, end, err := appends(ctx, l.folder)
	if err != nil {
		return nil, err
	}
	defer end()
	taken, err := inTurns(ctx, []*lab{l}, rawTake(appends, mostClients, 0), rawTake(rows.insertOne, 1, 0))
	if err != nil {
		return nil, err
	}
	return reading{Name: "write.sqlite.appends", Unit: "appends/s", Beside: rawRow, Without: "HTTP, commands, projection"}.
		each([]*lab{l}, taken[:1], taken[1:], perSecondOf), nil
}
