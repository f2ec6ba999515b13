package main

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	"example.com/threads/interfaceadaptor/readmodel/chatrows"
)

const aboutLetters = `An event that can't be projected parks its aggregate: its rows do not change, all others
continue. A failing command of a process waits and does not delay others. Both are retried automatically, after pauses
that grow to five minutes.

An aggregate is named by its AID and the projection that it is parked in, a command by the AID of its target, the
process (--projection) and the event that caused it (--event): list prints all of them.`

const aboutSkip = `Skips the event that an aggregate is parked on: the event stays in the journal, its effect is
missing from the rows. With --event, drops a failing command of a process: it is not sent again. Who decided it and
why is stored: see dead-letters list --skipped. Skip only what can't be fixed: often a newer release reads the event,
and a retry is enough.`

func (o *operator) deadLetters() *cli.Command {
	of := &cli.StringFlag{Name: "projection", Value: chatrows.Projection, Usage: "name of the projection or process"}
	event := &cli.StringFlag{Name: "event", Usage: "a command of the process, by the id of the event that caused it"}
	return &cli.Command{
		Name: "dead-letters", Usage: "lists, retries or skips parked aggregates and failing commands",
		Commands: []*cli.Command{
			{
				Name: "list", Usage: "lists parked aggregates and failing commands of all projections and processes", Description: aboutLetters,
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "skipped", Usage: "list skipped events and commands instead, with who skipped them and why"}, jsonFlag},
				Action: o.listLetters,
			},
			{
				Name: "show", Usage: "shows why one is parked or fails, with the event or the command", ArgsUsage: "AID", Description: aboutLetters,
				Flags: []cli.Flag{tenantFlag, of, event, jsonFlag}, Action: o.showLetter,
			},
			{
				Name: "retry", Usage: "retries one, or all of the projection or process", ArgsUsage: "[AID]", Description: aboutLetters,
				Flags: []cli.Flag{tenantFlag, of, event, jsonFlag}, Action: o.retryLetter,
			},
			{
				Name: "skip", Usage: "skips the event that an aggregate is parked on, or drops a failing command", ArgsUsage: "AID", Description: aboutSkip,
				Flags: []cli.Flag{
					tenantFlag, of, event,
					&cli.StringFlag{Name: "reason", Usage: "why it is skipped; stored with the skip", Required: true},
					&cli.StringFlag{Name: "by", Usage: "who decided it; default: the user logged in here (USER)"},
					jsonFlag,
				},
				Action: o.skipLetter,
			},
		},
	}
}

func (o *operator) listLetters(ctx context.Context, cmd *cli.Command) error {
	if cmd.NArg() > 0 {
		return wrong(cmd, "the command takes no argument")
	}
	_, db, err := o.openReadModel(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if cmd.Bool("skipped") {
		return o.listSkips(ctx, cmd, db)
	}
	letters, err := shownLetters(ctx, db)
	if err != nil {
		return err
	}
	commands, err := shownCommands(ctx, db)
	if err != nil {
		return err
	}
	if cmd.Bool(jsonFlag.Name) {
		err = o.printJSON(map[string]any{"parked": letters, "commands": commands})
	} else {
		for _, letter := range letters {
			o.sayLetter(letter)
			o.sayNext(letter.AID, letter.Tenant, letter.Projection, "")
		}
		for _, command := range commands {
			o.sayCommand(command)
			o.sayNext(command.AID, command.Tenant, command.Process, command.EventID)
		}
		_, err = fmt.Fprintf(o.stdout, "%d aggregates are parked, %s commands fail\n", len(letters), upTo(len(commands)))
	}
	if err == nil && len(letters)+len(commands) > 0 {
		return errFound
	}
	return err
}

// upTo is the number of listed items, marked if there may be more.
func upTo(n int) string {
	if n == maxListed {
		return fmt.Sprint(n, " or more")
	}
	return fmt.Sprint(n)
}

func (o *operator) sayNext(aid, tenant, projection, event string) {
	if projection == chatrows.Projection {
		projection = "" // the default
	}
	flags := ""
	for _, flag := range [][2]string{{tenantFlag.Name, tenant}, {"projection", projection}, {"event", event}} {
		if flag[1] != "" {
			flags += " --" + flag[0] + " " + flag[1]
		}
	}
	fmt.Fprintf(o.stdout, "  next      `dead-letters show %s%s` tells more; `retry` it once its reason is gone, or `skip` it\n", aid, flags)
}

func (o *operator) showLetter(ctx context.Context, cmd *cli.Command) error {
	if _, err := aggregateOf(cmd); err != nil {
		return err
	}
	settings, db, err := o.openReadModel(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	if cmd.IsSet("event") {
		err = o.showCommand(ctx, cmd, db)
	} else {
		err = o.showParked(ctx, cmd, settings, db)
	}
	if err == nil {
		return errFound
	}
	return err
}

func (o *operator) retryLetter(ctx context.Context, cmd *cli.Command) error {
	_, db, err := o.openReadModel(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	var due []stuck
	if cmd.NArg() > 0 || cmd.IsSet("event") {
		one, err := find(ctx, cmd, db)
		if err != nil {
			return err
		}
		due = []stuck{one}
	} else if due, err = allOf(ctx, cmd, db); err != nil {
		return err
	}
	for _, one := range due {
		if err := one.tryNow(ctx); err != nil {
			return err
		}
	}
	return o.outcome(ctx, cmd, due)
}

func (o *operator) skipLetter(ctx context.Context, cmd *cli.Command) error {
	by := cmd.String("by")
	if by == "" {
		by = o.getenv("USER")
	}
	if by == "" || cmd.String("reason") == "" {
		return wrong(cmd, "say with --reason why, and with --by who says so")
	}
	_, db, err := o.openReadModel(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	found, err := find(ctx, cmd, db)
	if err != nil {
		return err
	}
	if err := found.skip(ctx, cmd.String("reason"), by, time.Now()); err != nil {
		return err
	}
	return o.outcome(ctx, cmd, []stuck{found})
}
