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

func (o *operator) prune() *cli.Command {
	return &cli.Command{
		Name: "prune", Usage: "drops old rows of deleted threads, members and messages", Description: aboutPrune,
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "older-than", Usage: "such as 720h; at least 24h", Required: true},
			&cli.BoolFlag{Name: "dry-run", Usage: "count the rows to drop, and drop nothing"},
			jsonFlag,
		},
		Before: checkPrune,
		Action: o.withRows(o.pruneAll),
	}
}

// leastAge is the minimum age of dropped rows.
const leastAge = 24 * time.Hour

// pruned counts the rows dropped, or to drop.
type pruned struct {
	DryRun   bool      `json:"dry_run"`
	Before   time.Time `json:"before"`
	Threads  int       `json:"threads"`
	Members  int       `json:"members"`
	Messages int       `json:"messages"`
}

func checkPrune(ctx context.Context, cmd *cli.Command) (context.Context, error) {
	if cmd.Duration("older-than") < leastAge {
		return ctx, wrong(cmd, fmt.Sprintf("--older-than must be %s at least", leastAge))
	}
	return noArgument(ctx, cmd)
}

func (o *operator) pruneAll(ctx context.Context, cmd *cli.Command, s *rowStation) error {
	dryRun := cmd.Bool("dry-run")
	done := pruned{DryRun: dryRun, Before: time.Now().Add(-cmd.Duration("older-than")).UTC()}
	rows, err := chatrows.Prune(ctx, s.db.DB, done.Before, dryRun)
	if err != nil {
		return fmt.Errorf("prune the read model: %w", err)
	}
	done.Threads, done.Members, done.Messages = rows.Threads, rows.Members, rows.Messages
	how := "dropped"
	if dryRun {
		how = "would drop"
	}
	return o.print(cmd, done, fmt.Sprintf("%s rows of %d threads, %d members and %d messages\n",
		how, done.Threads, done.Members, done.Messages))
}
