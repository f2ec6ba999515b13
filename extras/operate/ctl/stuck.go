package ctl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

const (
	// outcomeWithin limits the wait for a retry: programs check every second what is due.
	outcomeWithin = 10 * time.Second
	pollEvery     = 100 * time.Millisecond
)

// stuck is an aggregate that is parked in a projection, or a failing command of a process.
type stuck struct {
	key      es.AggregateID
	event    string // that caused the command; empty for an aggregate
	letter   projection.DeadLetter
	command  process.Pending
	store    *rowstore.Store
	commands *process.Outbox
}

// attempt is what a retry changes: the event that an aggregate is parked on, how often it was tried, and the reason.
func (s stuck) attempt() (seqNr uint64, number int, reason string) {
	if s.event != "" {
		return 0, s.command.Attempts, s.command.Reason
	}
	return s.letter.SeqNr, s.letter.Attempts, s.letter.Reason
}

// look reads the current state; false: it is no longer stuck.
func (s stuck) look(ctx context.Context) (now stuck, still bool, err error) {
	now = s
	if s.event != "" {
		now.command, still, err = s.commands.Failing(ctx, s.key, s.event)
	} else {
		now.letter, still, err = s.store.Letter(ctx, s.key)
	}
	return now, still, err
}

// tryNow makes it due. It may no longer be stuck.
func (s stuck) tryNow(ctx context.Context) (err error) {
	if s.event != "" {
		err = s.commands.Retry(ctx, s.key, s.event, time.Now())
	} else {
		err = s.store.Retry(ctx, s.key, time.Now())
	}
	if errors.Is(err, rowstore.ErrNotParked) {
		return nil
	}
	return err
}

func (s stuck) skip(ctx context.Context, reason, by string, now time.Time) error {
	if s.event != "" {
		return s.commands.Skip(ctx, s.key, s.event, reason, by, now)
	}
	return s.store.SkipEvent(ctx, s.key, s.letter.SeqNr, reason, by, now)
}

// find returns the one that the argument and the flags name.
func (c *call) find(ctx context.Context) (stuck, error) {
	name := c.cmd.String("projection")
	store, err := rowstore.New(c.db, name)
	if err != nil {
		return stuck{}, err
	}
	found, still, err := stuck{key: c.id, event: c.cmd.String("event"), store: store, commands: process.New(c.db, store, name, c.log)}.look(ctx)
	aid := whose(c.id.Tenant.String(), c.id.String())
	switch {
	case err != nil || still:
		return found, err
	case found.event != "":
		return found, fmt.Errorf("no command of the process %s for %s that follows from the event %q fails; `dead-letters list` tells what does",
			name, aid, found.event)
	}
	return found, fmt.Errorf("%s is not parked in the projection %s; `dead-letters list` tells what is", aid, name)
}

// dueLetters returns the one that the argument names, or the parked aggregates of the projection and the failing
// commands of the process.
func (c *call) dueLetters(ctx context.Context) (due []stuck, err error) {
	if c.id != (es.AggregateID{}) {
		one, err := c.find(ctx)
		return []stuck{one}, err
	}
	name := c.cmd.String("projection")
	store, err := rowstore.New(c.db, name)
	if err != nil {
		return nil, err
	}
	letters, err := rowstore.Letters(ctx, c.db)
	if err != nil {
		return nil, err
	}
	for _, each := range letters {
		if each.Projection == name && c.wanted(each.Key) {
			due = append(due, stuck{key: each.Key, letter: each, store: store})
		}
	}
	failing, err := process.AllFailing(ctx, c.db, maxListed)
	for _, each := range failing {
		if each.Process == name && c.wanted(each.Target) {
			due = append(due, stuck{key: each.Target, event: each.EventID, command: each, commands: process.New(c.db, store, name, c.log)})
		}
	}
	return due, err
}

// result is the outcome of a retry.
type result struct {
	Tenant  string `json:"tenant"`
	AID     string `json:"aid"`
	EventID string `json:"event_id,omitempty"` // of a command
	Parked  bool   `json:"parked"`             // still stuck
	SeqNr   uint64 `json:"seq_nr,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Next    string `json:"next,omitempty"`
}

// outcome waits until all were tried, and prints the results.
func (c *call) outcome(ctx context.Context, due []stuck) error {
	deadline := time.Now().Add(outcomeWithin)
	results, still := []result{}, 0
	var text strings.Builder
	for _, one := range due {
		found, err := one.await(ctx, deadline)
		if err != nil {
			return err
		}
		results = append(results, found)
		text.WriteString(found.text())
		if found.Parked {
			still++
		}
	}
	return c.print(still == 0, map[string]any{"aggregates": results, "parked": still}, text.String())
}

func (r result) text() string {
	what, how := whose(r.Tenant, r.AID), fmt.Sprintf("is parked on event %d", r.SeqNr)
	if r.EventID != "" {
		what, how = "the command for "+what, "fails"
	}
	if !r.Parked {
		return fmt.Sprintf("%s continues\n", what)
	}
	return fmt.Sprintf("%s %s\n  reason    %s\n  next      %s\n", what, how, r.Reason, r.Next)
}

// await polls until it is no longer stuck, was tried twice, or time is up. Twice, because the first attempt may have
// started before the cause was fixed.
func (s stuck) await(ctx context.Context, deadline time.Time) (result, error) {
	found := result{
		Tenant: s.key.Tenant.String(), AID: s.key.String(), EventID: s.event,
		Next: "it is due, but not retried yet: is the program of this projection or process running?",
	}
	seqNr, number, _ := s.attempt()
	for tries := 0; ; {
		now, still, err := s.look(ctx)
		if err != nil || !still {
			return result{Tenant: found.Tenant, AID: found.AID, EventID: found.EventID}, err
		}
		found.Parked = true
		var nowNumber int
		found.SeqNr, nowNumber, found.Reason = now.attempt()
		if nowNumber != number || found.SeqNr != seqNr {
			seqNr, number, found.Next = found.SeqNr, nowNumber, "fix the cause and retry, or skip it"
			if tries++; tries == 2 {
				return found, nil
			}
			if err := s.tryNow(ctx); err != nil {
				return found, err
			}
		}
		if time.Now().After(deadline) {
			return found, nil
		}
		if err := es.Wait(ctx, pollEvery); err != nil {
			return found, err
		}
	}
}
