package ctl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"example.com/threads/es"
	"example.com/threads/es/process"
	"example.com/threads/es/process/outbox"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

// outcomeWithin limits the wait for a retry: programs check every second what is due.
const outcomeWithin = 10 * time.Second

// stuck is an aggregate that is parked in a projection, or a failing command of a process.
type stuck struct {
	key     es.AggregateID
	letter  projection.DeadLetter // of an aggregate
	event   string                // that caused the command; empty for an aggregate
	command process.Pending
	last    stuckState
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

func parkedAggregate(store *rowstore.Store, letter projection.DeadLetter) stuck {
	stateOf := func(l projection.DeadLetter) stuckState { return stuckState{l.SeqNr, l.Attempts, l.Reason} }
	return stuck{
		key: letter.Key, letter: letter, last: stateOf(letter),
		look: func(ctx context.Context) (stuckState, bool, error) {
			now, parked, err := store.Letter(ctx, letter.Key)
			return stateOf(now), parked, err
		},
		retry: func(ctx context.Context, now time.Time) error { return store.Retry(ctx, letter.Key, now) },
		skip: func(ctx context.Context, reason, by string, now time.Time) error {
			return store.SkipEvent(ctx, letter.Key, letter.SeqNr, reason, by, now)
		},
	}
}

func failingCommand(commands *outbox.Outbox, pending process.Pending) stuck {
	target, event := pending.Target, pending.EventID
	stateOf := func(p process.Pending) stuckState { return stuckState{attempts: p.Attempts, reason: p.Reason} }
	return stuck{
		key: target, event: event, command: pending, last: stateOf(pending),
		look: func(ctx context.Context) (stuckState, bool, error) {
			now, fails, err := commands.Failing(ctx, target, event)
			return stateOf(now), fails, err
		},
		retry: func(ctx context.Context, now time.Time) error { return commands.Retry(ctx, target, event, now) },
		skip: func(ctx context.Context, reason, by string, now time.Time) error {
			return commands.Skip(ctx, target, event, reason, by, now)
		},
	}
}

// find returns the one that the argument and the flags name.
func find(ctx context.Context, cmd *cli.Command, db readModel) (stuck, error) {
	id, err := aggregateOf(cmd)
	if err != nil {
		return stuck{}, err
	}
	name, event := cmd.String("projection"), cmd.String("event")
	store, err := rowstore.New(db.DB, name)
	if err != nil {
		return stuck{}, err
	}
	if !cmd.IsSet("event") {
		letter, isParked, err := store.Letter(ctx, id)
		if err == nil && !isParked {
			err = fmt.Errorf("%s is not parked in the projection %s; `dead-letters list` tells what is", whose(id.Tenant.String(), id.String()), name)
		}
		return parkedAggregate(store, letter), err
	}
	commands := outbox.New(db.DB, store, name)
	pending, fails, err := commands.Failing(ctx, id, event)
	if err == nil && !fails {
		err = fmt.Errorf("no command of the process %s for %s that follows from the event %q fails; `dead-letters list` tells what does",
			name, whose(id.Tenant.String(), id.String()), event)
	}
	return failingCommand(commands, pending), err
}

// allOf returns the parked aggregates of the projection and the failing commands of the process.
func allOf(ctx context.Context, cmd *cli.Command, db readModel) (due []stuck, err error) {
	name := cmd.String("projection")
	wanted := func(of string, key es.AggregateID) bool {
		return of == name && (!cmd.IsSet(tenantFlag.Name) || key.Tenant.String() == cmd.String(tenantFlag.Name))
	}
	store, err := rowstore.New(db.DB, name)
	if err != nil {
		return nil, err
	}
	letters, err := rowstore.Letters(ctx, db.DB)
	if err != nil {
		return nil, err
	}
	for _, each := range letters {
		if wanted(each.Projection, each.Key) {
			due = append(due, parkedAggregate(store, each.DeadLetter))
		}
	}
	failing, err := outbox.AllFailing(ctx, db.DB, maxListed)
	for _, each := range failing {
		if wanted(each.Process, each.Target) {
			due = append(due, failingCommand(outbox.New(db.DB, store, name), each.Pending))
		}
	}
	return due, err
}

// tryNow makes it due. It may no longer be stuck.
func (s stuck) tryNow(ctx context.Context) error {
	err := s.retry(ctx, time.Now())
	if errors.Is(err, rowstore.ErrNotParked) || errors.Is(err, outbox.ErrNotFailing) {
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
	var text strings.Builder
	for _, found := range results {
		text.WriteString(found.text())
	}
	err := o.print(cmd, map[string]any{"aggregates": results, "parked": still}, text.String())
	if err == nil && still > 0 {
		return errFound
	}
	return err
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

const pollEvery = 100 * time.Millisecond

// await polls until it is no longer stuck, was tried twice, or time is up. Twice, because the first attempt may have
// started before the cause was fixed.
func (s stuck) await(ctx context.Context, deadline time.Time) (result, error) {
	found := result{
		Tenant: s.key.Tenant.String(), AID: s.key.String(), EventID: s.event,
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
		if err := es.Wait(ctx, pollEvery); err != nil {
			return found, err
		}
	}
}
