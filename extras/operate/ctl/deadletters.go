package ctl

import (
	"context"
	"fmt"
	"strings"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/extras/operate"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
)

const aboutLetters = `An event that can't be projected parks its aggregate: its rows do not change, all others
continue. A failing command of a process waits and does not delay others. Both are retried automatically, after pauses
that grow to five minutes.

An aggregate is named by its AID and the projection that it is parked in, a command by the AID of its target, the
process (--projection) and the event that caused it (--event): list prints all of them.`

// maxListed limits lists.
const maxListed = 100_000

// stuck is a parked aggregate, or a failing command of a process.
type stuck struct {
	of     string // the projection or process
	target es.AggregateID
	event  string // of a command: what caused it; otherwise empty
	seqNr  uint64 // of the event that an aggregate is parked on
	shown  any    // for programs: an operate.Letter or a shownCommand
	text   string // for people
}

func parked(l projection.DeadLetter) stuck {
	return stuck{
		of: l.Projection, target: l.Key, seqNr: l.SeqNr, shown: operate.LetterOf(l),
		text: fmt.Sprintf("%s is parked on event %d in the projection %s since %s\n%s",
			operate.Name(l.Key), l.SeqNr, l.Projection, l.ParkedAt.Format(time.RFC3339), attempts(l.Reason, l.Attempts, l.RetryAt)),
	}
}

// shownCommand is a failing command of a process for programs.
type shownCommand struct {
	operate.Named // the command's aggregate
	process.Pending
}

func failing(p process.Pending) stuck {
	return stuck{
		of: p.Process, target: p.Target, event: p.EventID, shown: shownCommand{operate.Name(p.Target), p},
		text: fmt.Sprintf("%s: the command %s of the process %s has failed since %s\n%s  event     %s\n  executor  %s\n",
			operate.Name(p.Target), p.Name, p.Process, p.FailingSince.Format(time.RFC3339), attempts(p.Reason, p.Attempts, p.DueAt), p.EventID, p.Executor),
	}
}

func attempts(reason string, count int, next time.Time) string {
	return fmt.Sprintf("  reason    %s\n  attempts  %d, the next at %s\n", reason, count, next.Format(time.RFC3339))
}

// stuck reads all that are stuck, parked aggregates first.
func (c *call) stuck(ctx context.Context) (found []stuck, err error) {
	letters, err := rowstore.Letters(ctx, c.db)
	if err != nil {
		return nil, fmt.Errorf("read the dead letters: %w", err)
	}
	commands, err := process.AllFailing(ctx, c.db, maxListed)
	if err != nil {
		return nil, fmt.Errorf("read the commands of processes: %w", err)
	}
	for _, each := range letters {
		found = append(found, parked(each))
	}
	for _, each := range commands {
		found = append(found, failing(each))
	}
	return found, nil
}

// printStuck prints all, and then a text.
func (c *call) printStuck(found []stuck, end string) error {
	lists := map[string][]any{"parked": {}, "commands": {}}
	var text strings.Builder
	for _, each := range found {
		list, flags := "parked", []string{}
		if each.of != chatrows.Projection { // the default
			flags = append(flags, "--projection", each.of)
		}
		if each.event != "" {
			list, flags = "commands", append(flags, "--event", each.event)
		}
		lists[list] = append(lists[list], each.shown)
		fmt.Fprintf(&text, "%s  next      %s tells more; `retry` it once its reason is gone, or `skip` it\n",
			each.text, commandLine("dead-letters show", each.target, flags...))
	}
	return c.print(len(found) == 0, lists, text.String()+end)
}

type listLetters struct {
	Skipped bool `help:"list skipped events and commands instead, with who skipped them and why"`
}

func (listLetters) Help() string { return aboutLetters }

// Run lists what is stuck, or what was skipped.
func (cmd *listLetters) Run(ctx context.Context, c *call) error {
	if cmd.Skipped {
		return c.listSkips(ctx)
	}
	found, err := c.stuck(ctx)
	if err != nil {
		return err
	}
	failing := 0
	for _, each := range found {
		if each.event != "" {
			failing++
		}
	}
	return c.printStuck(found, fmt.Sprintf("%d aggregates are parked, %d commands fail\n", len(found)-failing, failing))
}

// shownSkip is a skipped event of a projection for people and programs, or a skipped command of a process.
type shownSkip struct {
	operate.Named
	rowstore.Skip
}

func (c *call) listSkips(ctx context.Context) error {
	skips, err := rowstore.Skips(ctx, c.db, maxListed)
	if err != nil {
		return fmt.Errorf("read what was skipped: %w", err)
	}
	shown, text, commands := []shownSkip{}, strings.Builder{}, 0
	for _, s := range skips {
		what := fmt.Sprintf("event %d was left out of the projection", s.SeqNr)
		if s.Command != "" {
			commands++
			what = fmt.Sprintf("the command %s was left out of the process", s.Command)
		}
		named := operate.Name(s.Key)
		shown = append(shown, shownSkip{named, s})
		fmt.Fprintf(&text, "%s: %s %s by %s at %s\n  reason    %s\n  cause     %s\n", named, what, s.Projection, s.By, s.At.Format(time.RFC3339), s.Reason, s.Cause)
	}
	fmt.Fprintf(&text, "%d events and %d commands were skipped\n", len(skips)-commands, commands)
	return c.print(true, map[string]any{"skipped": shown}, text.String())
}
