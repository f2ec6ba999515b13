package main

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	"example.com/threads/interfaceadaptor/readmodel/chatrows"
)

const aboutLetters = `An event that can't be projected parks its aggregate: the rows of this one stay as they are, all others go on. A command of a
process that fails waits, and holds up nothing else. Both are tried again by themselves, ever more seldom, up to every five
minutes.

An aggregate is named by its AID and the projection that it is parked in, a command by the AID that it is for, the process
(--projection) and the event that it follows from (--event): list prints all of them.`

const aboutSkip = `Lets a parked aggregate go on behind the event that it is parked on: the event stays in the journal, its effect is not in the
rows. With --event, takes a failing command of a process away: it is not sent any more. Who decided so and why is kept:
dead-letters list --skipped tells. Skip only what can't be mended: often a newer release reads the event, and then a retry is
enough.`

func (o *operator) deadLetters() *cli.Command {
	of := &cli.StringFlag{Name: "projection", Value: chatrows.Projection, Usage: "which projection or process it is about"}
	event := &cli.StringFlag{Name: "event", Usage: "a command of the process, by the id of the event that it follows from"}
	return &cli.Command{
		Name: "dead-letters", Usage: "lists what is parked or fails, and lets it go on",
		Commands: []*cli.Command{
			{
				Name: "list", Usage: "lists what is parked or fails, of all projections and processes", Description: aboutLetters,
				Flags:  []cli.Flag{&cli.BoolFlag{Name: "skipped", Usage: "list what was skipped instead, and who said so and why"}, jsonFlag},
				Action: o.listLetters,
			},
			{
				Name: "show", Usage: "tells why it does not go on, with the event as text, or the command", ArgsUsage: "AID", Description: aboutLetters,
				Flags: []cli.Flag{tenantFlag, of, event, jsonFlag}, Action: o.showLetter,
			},
			{
				Name: "retry", Usage: "tries one again, or all of the projection or process", ArgsUsage: "[AID]", Description: aboutLetters,
				Flags: []cli.Flag{tenantFlag, of, event, jsonFlag}, Action: o.retryLetter,
			},
			{
				Name: "skip", Usage: "lets an aggregate go on behind the event, or takes a command away", ArgsUsage: "AID", Description: aboutSkip,
				Flags: []cli.Flag{
					tenantFlag, of, event,
					&cli.StringFlag{Name: "reason", Usage: "why it is left out; it is kept", Required: true},
					&cli.StringFlag{Name: "by", Usage: "who says so; without it, who is logged in here (USER)"},
					jsonFlag,
				},
				Action: o.skipLetter,
			},
		},
	}
}

func (o *operator) listLetters(ctx context.Context, cmd *cli.Command) error {
	if cmd.NArg() > 0 {
		return wrong(cmd, "it takes no argument")
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

// upTo is the number of what was listed, of which there may be more than are listed.
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
