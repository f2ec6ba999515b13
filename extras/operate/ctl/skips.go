package ctl

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"example.com/threads/es/process/outbox"
	"example.com/threads/es/rowstore"
)

// shownSkip is a skipped event of a projection for people and programs, or a skipped command of a process.
type shownSkip struct {
	Projection string    `json:"projection"`
	Tenant     string    `json:"tenant"`
	AID        string    `json:"aid"`
	SeqNr      uint64    `json:"seq_nr,omitempty"`  // of an event
	Command    string    `json:"command,omitempty"` // the name of one
	EventID    string    `json:"event_id"`
	Cause      string    `json:"cause"`
	Reason     string    `json:"reason"`
	By         string    `json:"by"`
	At         time.Time `json:"at"`
}

const maxListed = 1000

func (o *operator) listSkips(ctx context.Context, cmd *cli.Command, db readModel) error {
	skips, err := rowstore.Skips(ctx, db.DB, maxListed)
	if err != nil {
		return fmt.Errorf("read what was skipped: %w", err)
	}
	commands, err := outbox.AllSkipped(ctx, db.DB, maxListed)
	if err != nil {
		return fmt.Errorf("read what was skipped: %w", err)
	}
	shown := []shownSkip{}
	for _, s := range skips {
		shown = append(shown, shownSkip{s.Projection, s.Key.Tenant.String(), s.Key.String(), s.SeqNr, "", s.EventID, s.Cause, s.Reason, s.By, s.At})
	}
	for _, s := range commands {
		shown = append(shown, shownSkip{s.Process, s.Target.Tenant.String(), s.Target.String(), 0, s.Name, s.EventID, s.Cause, s.Reason, s.By, s.At})
	}
	var text strings.Builder
	for _, s := range shown {
		what := fmt.Sprintf("event %d was left out of the projection", s.SeqNr)
		if s.Command != "" {
			what = fmt.Sprintf("the command %s was left out of the process", s.Command)
		}
		fmt.Fprintf(&text, "%s: %s %s by %s at %s\n  reason    %s\n  cause     %s\n",
			whose(s.Tenant, s.AID), what, s.Projection, s.By, s.At.Format(time.RFC3339), s.Reason, s.Cause)
	}
	fmt.Fprintf(&text, "%s events and %s commands were skipped\n", upTo(len(skips)), upTo(len(commands)))
	return o.print(cmd, map[string]any{"skipped": shown}, text.String())
}
