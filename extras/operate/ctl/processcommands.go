package ctl

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	"example.com/threads/es/process"
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

func (c shownCommand) text() string {
	return fmt.Sprintf("%s: the command %s of the process %s has failed since %s\n  reason    %s\n  attempts  %d, the next at %s\n  event     %s\n",
		whose(c.Tenant, c.AID), c.Command, c.Process, c.FailingSince.Format(time.RFC3339), c.Reason, c.Attempts, c.RetryAt.Format(time.RFC3339), c.EventID)
}

func (o *operator) showCommand(cmd *cli.Command, pending process.Pending) error {
	shown := commandOf(cmd.String("projection"), pending)
	return o.print(cmd, shown, shown.text()+
		fmt.Sprintf("  cause     %s\n  executor  %s\n  correlation %s\n", shown.CausationID, shown.Executor, shown.CorrelationID))
}
