package ctl

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"example.com/threads/es/process/outbox"
	"example.com/threads/es/rowstore"
	"example.com/threads/extras/operate"
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
				Before: noArgument, Action: o.withReadModel(o.listLetters),
			},
			{
				Name: "show", Usage: "shows why one is parked or fails, with the event or the command", ArgsUsage: "AID", Description: aboutLetters,
				Flags: []cli.Flag{tenantFlag, of, event, jsonFlag}, Before: oneAggregate, Action: o.withReadModel(o.showLetter),
			},
			{
				Name: "retry", Usage: "retries one, or all of the projection or process", ArgsUsage: "[AID]", Description: aboutLetters,
				Flags: []cli.Flag{tenantFlag, of, event, jsonFlag}, Before: checkRetry, Action: o.withReadModel(o.retryLetter),
			},
			{
				Name: "skip", Usage: "skips the event that an aggregate is parked on, or drops a failing command", ArgsUsage: "AID", Description: aboutSkip,
				Flags: []cli.Flag{
					tenantFlag, of, event,
					&cli.StringFlag{Name: "reason", Usage: "why it is skipped; stored with the skip", Required: true},
					&cli.StringFlag{Name: "by", Usage: "who decided it; default: USER, or the user who runs this program"},
					jsonFlag,
				},
				Before: checkSkip, Action: o.withReadModel(o.skipLetter),
			},
		},
	}
}

func (o *operator) listLetters(ctx context.Context, cmd *cli.Command, db readModel) error {
	if cmd.Bool("skipped") {
		return o.listSkips(ctx, cmd, db)
	}
	letters, err := rowstore.Letters(ctx, db.DB)
	if err != nil {
		return fmt.Errorf("read the dead letters: %w", err)
	}
	failing, err := outbox.AllFailing(ctx, db.DB, maxListed)
	if err != nil {
		return fmt.Errorf("read the commands of processes: %w", err)
	}
	parked, commands := []operate.Letter{}, []shownCommand{}
	var text strings.Builder
	for _, each := range letters {
		letter := operate.LetterOf(each.Projection, each.DeadLetter)
		parked = append(parked, letter)
		text.WriteString(textOfLetter(letter) + next(letter.AID, letter.Tenant, letter.Projection, ""))
	}
	for _, each := range failing {
		command := commandOf(each.Process, each.Pending)
		commands = append(commands, command)
		text.WriteString(command.text() + next(command.AID, command.Tenant, command.Process, command.EventID))
	}
	fmt.Fprintf(&text, "%d aggregates are parked, %s commands fail\n", len(parked), upTo(len(commands)))
	err = o.print(cmd, map[string]any{"parked": parked, "commands": commands}, text.String())
	if err == nil && len(parked)+len(commands) > 0 {
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

// next returns the line that says what to do.
func next(aid, tenant, of, event string) string {
	if of == chatrows.Projection {
		of = "" // the default
	}
	flags := ""
	for _, flag := range [][2]string{{tenantFlag.Name, tenant}, {"projection", of}, {"event", event}} {
		if flag[1] != "" {
			flags += " --" + flag[0] + " " + flag[1]
		}
	}
	return fmt.Sprintf("  next      `dead-letters show %s%s` tells more; `retry` it once its reason is gone, or `skip` it\n", aid, flags)
}

func (o *operator) showLetter(ctx context.Context, cmd *cli.Command, db readModel) error {
	found, err := find(ctx, cmd, db)
	if err != nil {
		return err
	}
	if found.event != "" {
		err = o.showCommand(cmd, found.command)
	} else {
		err = o.showParked(ctx, cmd, db, found.letter)
	}
	if err == nil {
		return errFound
	}
	return err
}

// checkRetry: --event needs an AID.
func checkRetry(ctx context.Context, cmd *cli.Command) (context.Context, error) {
	if cmd.IsSet("event") {
		return oneAggregate(ctx, cmd)
	}
	return maybeAggregate(ctx, cmd)
}

func (o *operator) retryLetter(ctx context.Context, cmd *cli.Command, db readModel) error {
	var due []stuck
	if cmd.NArg() > 0 {
		one, err := find(ctx, cmd, db)
		if err != nil {
			return err
		}
		due = []stuck{one}
	} else {
		var err error
		if due, err = allOf(ctx, cmd, db); err != nil {
			return err
		}
	}
	if len(due) == 0 {
		text := fmt.Sprintf("nothing to retry: in %s no aggregate is parked and no command fails\n", cmd.String("projection"))
		return o.print(cmd, map[string]any{"aggregates": []result{}, "parked": 0}, text)
	}
	for _, one := range due {
		if err := one.tryNow(ctx); err != nil {
			return err
		}
	}
	return o.outcome(ctx, cmd, due)
}

// skipper returns who skips: the flag --by, or else the user who runs this program. In a container neither USER nor a
// name may be set, so the last is the user's number.
func (o *operator) skipper(cmd *cli.Command) string {
	name := ""
	if current, err := user.Current(); err == nil {
		name = current.Username
	}
	return cmp.Or(cmd.String("by"), o.getenv("USER"), name, fmt.Sprintf("user %d", os.Getuid()))
}

func checkSkip(ctx context.Context, cmd *cli.Command) (context.Context, error) {
	if cmd.String("reason") == "" {
		return ctx, wrong(cmd, "say with --reason why")
	}
	return oneAggregate(ctx, cmd)
}

func (o *operator) skipLetter(ctx context.Context, cmd *cli.Command, db readModel) error {
	found, err := find(ctx, cmd, db)
	if err != nil {
		return err
	}
	if err := found.skip(ctx, cmd.String("reason"), o.skipper(cmd), time.Now()); err != nil {
		return err
	}
	return o.outcome(ctx, cmd, []stuck{found})
}
