package main

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
)

const aboutPrune = `Drops what nobody can read any more: rows of the read model of what was deleted longer ago than that, and on a relational event
store the receipts and the inputs and results of tasks that expired longer ago. Events stay. Nothing is ever dropped by itself, but for
receipts, inputs and results on DynamoDB, which expire there.`

func (o *operator) prune() *cli.Command {
	return &cli.Command{
		Name: "prune", Usage: "drops rows of what was deleted, and old receipts", Description: aboutPrune,
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "older-than", Usage: "such as 720h; at least 24h", Required: true},
			&cli.BoolFlag{Name: "dry-run", Usage: "count what would be dropped, and drop nothing"},
			jsonFlag,
		},
		Action: o.pruneAll,
	}
}

// leastAge is how long what is deleted stays at least: a repeat of its command gets its answer for a day.
const leastAge = 24 * time.Hour

// pruned is what was dropped, or would be.
type pruned struct {
	DryRun   bool      `json:"dry_run"`
	Before   time.Time `json:"before"`
	Threads  int       `json:"threads"`
	Members  int       `json:"members"`
	Messages int       `json:"messages"`
	Receipts int       `json:"receipts"`
	Files    int       `json:"file_parts"`
}

func (o *operator) pruneAll(ctx context.Context, cmd *cli.Command) error {
	age, dryRun := cmd.Duration("older-than"), cmd.Bool("dry-run")
	switch {
	case cmd.NArg() > 0:
		return wrong(cmd, "it takes no argument")
	case age < leastAge:
		return wrong(cmd, fmt.Sprintf("--older-than must be %s at least", leastAge))
	}
	s, closing, err := o.openRows(ctx)
	if err != nil {
		return err
	}
	defer closing()
	done := pruned{DryRun: dryRun, Before: time.Now().Add(-age).UTC()}
	rows, err := chatrows.Prune(ctx, s.db, done.Before, dryRun)
	if err != nil {
		return fmt.Errorf("prune the read model: %w", err)
	}
	done.Threads, done.Members, done.Messages = rows.Threads, rows.Members, rows.Messages
	if pruner, able := s.store.Gateway.(eventstore.ReceiptPruner); able {
		if done.Receipts, err = pruner.PruneReceipts(ctx, done.Before, dryRun); err != nil {
			return err
		}
	}
	if pruner, able := s.store.Gateway.(eventstore.SpoolPruner); able {
		if done.Files, err = pruner.PruneSpool(ctx, done.Before, dryRun); err != nil {
			return err
		}
	}
	if cmd.Bool(jsonFlag.Name) {
		return o.printJSON(done)
	}
	how := "dropped"
	if dryRun {
		how = "would drop"
	}
	_, err = fmt.Fprintf(o.stdout, "%s rows of %d threads, %d members and %d messages, %d receipts and %d parts of the files of tasks\n",
		how, done.Threads, done.Members, done.Messages, done.Receipts, done.Files)
	return err
}
