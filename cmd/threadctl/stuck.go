package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/urfave/cli/v3"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/readmodel/outbox"
	"example.com/threads/interfaceadaptor/readmodel/projectionstore"
)

// outcomeWithin limits the wait for a retry: programs check every second what is due.
const outcomeWithin = 10 * time.Second

// stuck is an aggregate that is parked in a projection, or a failing command of a process.
type stuck struct {
	id    eventstore.AggregateID
	event string // that caused the command; empty for an aggregate
	last  stuckState
	// look returns the current state; false: no longer stuck.
	look  func(context.Context) (stuckState, bool, error)
	retry func(ctx context.Context, now time.Time) error
	skip  func(ctx context.Context, reason, by string, now time.Time) error
}

// stuckState is what an attempt changes.
type stuckState struct {
	seqNr    uint64 // of the event that an aggregate is parked on
	attempts int
	reason   string
}

// find returns the one that the flags name.
func find(ctx context.Context, cmd *cli.Command, db *sqlx.DB) (stuck, error) {
	if cmd.IsSet("event") {
		found, err := findCommand(ctx, cmd, db)
		return found.stuck(), err
	}
	found, err := findLetter(ctx, cmd, db)
	return found.stuck(), err
}

// allOf returns the parked aggregates of the projection and the failing commands of the process.
func allOf(ctx context.Context, cmd *cli.Command, db *sqlx.DB) (due []stuck, err error) {
	name := cmd.String("projection")
	wanted := func(of, tenant string) bool {
		return of == name && (!cmd.IsSet(tenantFlag.Name) || tenant == cmd.String(tenantFlag.Name))
	}
	store, err := projectionstore.New(db, name)
	if err != nil {
		return nil, err
	}
	letters, err := projectionstore.Letters(ctx, db)
	if err != nil {
		return nil, err
	}
	for _, letter := range letters {
		if key := letter.Key; wanted(letter.Projection, key.Tenant.String()) {
			due = append(due, parkedAggregate{idOf(key), key, store, letter.DeadLetter}.stuck())
		}
	}
	commands, err := outbox.AllFailing(ctx, db, maxListed)
	for _, command := range commands {
		if wanted(command.Process, command.Target.Tenant.String()) {
			due = append(due, failingCommand{idOf(command.Target), outbox.New(db, store, name), command.Pending}.stuck())
		}
	}
	return due, err
}

// tryNow makes it due. It may no longer be stuck.
func (s stuck) tryNow(ctx context.Context) error {
	err := s.retry(ctx, time.Now())
	if errors.Is(err, projectionstore.ErrNotParked) || errors.Is(err, outbox.ErrNotFailing) {
		return nil
	}
	return err
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

// outcome waits until all were tried, and returns the results.
func (o *operator) outcome(ctx context.Context, cmd *cli.Command, due []stuck) error {
	deadline := time.Now().Add(outcomeWithin)
	results, still := []result{}, 0
	for _, one := range due {
		found, err := one.await(ctx, deadline)
		if err != nil {
			return err
		}
		results = append(results, found)
		if found.Parked {
			still++
		}
	}
	var err error
	if cmd.Bool(jsonFlag.Name) {
		err = o.printJSON(map[string]any{"aggregates": results, "parked": still})
	} else {
		for _, found := range results {
			o.sayResult(found)
		}
	}
	if err == nil && still > 0 {
		return errFound
	}
	return err
}

func (o *operator) sayResult(found result) {
	what, how := whose(found.Tenant, found.AID), fmt.Sprintf("is parked on event %d", found.SeqNr)
	if found.EventID != "" {
		what, how = "the command for "+what, "fails"
	}
	if !found.Parked {
		fmt.Fprintf(o.stdout, "%s continues\n", what)
		return
	}
	fmt.Fprintf(o.stdout, "%s %s\n  reason    %s\n  next      %s\n", what, how, found.Reason, found.Next)
}

const pollEvery = 100 * time.Millisecond

// await polls until it is no longer stuck, was tried twice, or time is up. Twice, because the first attempt may have
// started before the cause was fixed.
func (s stuck) await(ctx context.Context, deadline time.Time) (result, error) {
	found := result{
		Tenant: s.id.Tenant, AID: s.id.String(), EventID: s.event,
		Next: "it is due, but not retried yet: is the program of this projection or process running?",
	}
	before, tries := s.last, 0
	for {
		now, still, err := s.look(ctx)
		if err != nil || !still {
			return result{Tenant: found.Tenant, AID: found.AID, EventID: found.EventID}, err
		}
		found.Parked, found.SeqNr, found.Reason = true, now.seqNr, now.reason
		if now.attempts != before.attempts || now.seqNr != before.seqNr {
			before, found.Next = now, "fix the cause and retry, or skip it"
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
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return found, ctx.Err()
		}
	}
}
