package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/urfave/cli/v3"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/readmodel/outbox"
	"example.com/threads/interfaceadaptor/readmodel/projectionstore"
	"example.com/threads/usecase/process"
)

// shownCommand is a failing command of a process for people and programs.
type shownCommand struct {
	Process       string    `json:"process"`
	Tenant        string    `json:"tenant"`
	AID           string    `json:"aid"` // the command's aggregate
	Command       string    `json:"command"`
	EventID       string    `json:"event_id"`
	Executor      string    `json:"executor_id"`
	CausationID   string    `json:"causation_id"`
	CorrelationID string    `json:"correlation_id"`
	Reason        string    `json:"reason"`
	Attempts      int       `json:"attempts"`
	FailingSince  time.Time `json:"failing_since"`
	RetryAt       time.Time `json:"retry_at"`
}

func commandOf(name string, p process.Pending) shownCommand {
	return shownCommand{
		Process: name, Tenant: p.Target.Tenant.String(), AID: p.Target.String(), Command: p.Name, EventID: p.EventID, Executor: p.Executor,
		CausationID: p.CausationID, CorrelationID: p.CorrelationID, Reason: p.Reason, Attempts: p.Attempts, FailingSince: p.FailingSince, RetryAt: p.DueAt,
	}
}

func (o *operator) sayCommand(c shownCommand) {
	fmt.Fprintf(o.stdout, "%s: the command %s of the process %s has failed since %s\n  reason    %s\n  attempts  %d, the next at %s\n  event     %s\n",
		whose(c.Tenant, c.AID), c.Command, c.Process, c.FailingSince.Format(time.RFC3339), c.Reason, c.Attempts, c.RetryAt.Format(time.RFC3339), c.EventID)
}

func shownCommands(ctx context.Context, db *sqlx.DB) ([]shownCommand, error) {
	failing, err := outbox.AllFailing(ctx, db, maxListed)
	if err != nil {
		return nil, fmt.Errorf("read the commands of processes: %w", err)
	}
	shown := []shownCommand{}
	for _, command := range failing {
		shown = append(shown, commandOf(command.Process, command.Pending))
	}
	return shown, nil
}

// outboxOf returns the outbox of a process.
func outboxOf(db *sqlx.DB, name string) (*outbox.Outbox, error) {
	store, err := projectionstore.New(db, name)
	if err != nil {
		return nil, err
	}
	return outbox.New(db, store, name), nil
}

// failingCommand is a command and its outbox.
type failingCommand struct {
	id      eventstore.AggregateID
	outbox  *outbox.Outbox
	pending process.Pending
}

func findCommand(ctx context.Context, cmd *cli.Command, db *sqlx.DB) (found failingCommand, err error) {
	if found.id, err = aggregateOf(cmd); err != nil {
		return found, err
	}
	key, err := keyOf(found.id)
	if err != nil {
		return found, err
	}
	name, event := cmd.String("projection"), cmd.String("event")
	if found.outbox, err = outboxOf(db, name); err != nil {
		return found, err
	}
	pending, fails, err := found.outbox.Failing(ctx, key, event)
	if err == nil && !fails {
		err = fmt.Errorf("no command of the process %s for %s that follows from the event %q fails; `dead-letters list` tells what does",
			name, whose(found.id.Tenant, found.id.String()), event)
	}
	found.pending = pending
	return found, err
}

func (f failingCommand) stuck() stuck {
	target, event := f.pending.Target, f.pending.EventID
	return stuck{
		id: f.id, event: event, last: stuckState{attempts: f.pending.Attempts, reason: f.pending.Reason},
		look: func(ctx context.Context) (stuckState, bool, error) {
			pending, fails, err := f.outbox.Failing(ctx, target, event)
			return stuckState{attempts: pending.Attempts, reason: pending.Reason}, fails, err
		},
		retry: func(ctx context.Context, now time.Time) error { return f.outbox.Retry(ctx, target, event, now) },
		skip: func(ctx context.Context, reason, by string, now time.Time) error {
			return f.outbox.Skip(ctx, target, event, reason, by, now)
		},
	}
}

func (o *operator) showCommand(ctx context.Context, cmd *cli.Command, db *sqlx.DB) error {
	found, err := findCommand(ctx, cmd, db)
	if err != nil {
		return err
	}
	shown := commandOf(cmd.String("projection"), found.pending)
	if cmd.Bool(jsonFlag.Name) {
		return o.printJSON(shown)
	}
	o.sayCommand(shown)
	_, err = fmt.Fprintf(o.stdout, "  cause     %s\n  executor  %s\n  correlation %s\n", shown.CausationID, shown.Executor, shown.CorrelationID)
	return err
}
