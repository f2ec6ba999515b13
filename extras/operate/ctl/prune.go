package ctl

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	"example.com/threads/interfaceadaptor/readmodel/chatrows"
)

const aboutPrune = `Drops data that can no longer be read: rows of the read model that were deleted longer ago than
--older-than. Events stay, and on a relational event store receipts, so that a repeated command always gets its first
answer. These rows are not dropped automatically. Inputs and results of tasks are, and on DynamoDB receipts.`

// leastAge is the minimum age of dropped rows.
const leastAge = 24 * time.Hour

func (o *operator) prune() *cli.Command {
	old := func(cmd *cli.Command) error {
		if cmd.Duration("older-than") < leastAge {
			return wrong(cmd, fmt.Sprintf("--older-than must be %s at least", leastAge))
		}
		return nil
	}
	return o.command(readModel, old, (*call).pruneRows, &cli.Command{
		Name: "prune", Usage: "drops old rows of deleted threads, members and messages", Description: aboutPrune,
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "older-than", Usage: "such as 720h; at least 24h", Required: true},
			&cli.BoolFlag{Name: dryRunFlag.Name, Usage: "count the rows to drop, and drop nothing"},
		},
	})
}

func (c *call) pruneRows(ctx context.Context) error {
	dryRun, how := c.cmd.Bool(dryRunFlag.Name), "dropped"
	if dryRun {
		how = "would drop"
	}
	before := time.Now().Add(-c.cmd.Duration("older-than")).UTC()
	rows, err := chatrows.Prune(ctx, c.db, before, dryRun)
	if err != nil {
		return fmt.Errorf("prune the read model: %w", err)
	}
	return c.print(true, map[string]any{
		"dry_run": dryRun, "before": before, "threads": rows.Threads, "members": rows.Members, "messages": rows.Messages,
	}, fmt.Sprintf("%s rows of %d threads, %d members and %d messages\n", how, rows.Threads, rows.Members, rows.Messages))
}
