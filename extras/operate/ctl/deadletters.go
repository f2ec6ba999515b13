package ctl

import (
	"context"
	"fmt"
	"slices"

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
	shown  any    // an operate.Letter or a shownCommand
}

func parked(l projection.DeadLetter) stuck {
	letter := operate.LetterOf(l)
	letter.Next = nextOf(l.Projection, l.Key, "")
	return stuck{of: l.Projection, target: l.Key, seqNr: l.SeqNr, shown: letter}
}

// shownCommand is a failing command of a process.
type shownCommand struct {
	operate.Named // the command's aggregate
	process.Pending
	Next string `json:"next"`
}

func failing(p process.Pending) stuck {
	return stuck{
		of: p.Process, target: p.Target, event: p.EventID,
		shown: shownCommand{operate.Name(p.Target), p, nextOf(p.Process, p.Target, p.EventID)},
	}
}

// nextOf says what to do.
func nextOf(queue string, target es.AggregateID, event string) string {
	var flags []string
	if queue != chatrows.Projection { // the default
		flags = append(flags, "--projection", queue)
	}
	if event != "" {
		flags = append(flags, "--event", event)
	}
	return commandLine("dead-letters show", target, flags...) + " tells more; `retry` it once its reason is gone, or `skip` it"
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

// printStuck prints all, and a note.
func (c *call) printStuck(found []stuck, note string) error {
	lists := struct {
		Parked   []any  `json:"parked"`
		Commands []any  `json:"commands"`
		Note     string `json:"note,omitempty"`
	}{[]any{}, []any{}, note}
	for _, each := range found {
		if each.event != "" {
			lists.Commands = append(lists.Commands, each.shown)
		} else {
			lists.Parked = append(lists.Parked, each.shown)
		}
	}
	return c.print(len(found) == 0, lists)
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
	return c.printStuck(found, "")
}

// shownSkip is a skipped event of a projection, or a skipped command of a process.
type shownSkip struct {
	operate.Named
	rowstore.Skip
}

func (c *call) listSkips(ctx context.Context) error {
	events, err := rowstore.Skips(ctx, c.db, maxListed)
	var commands []rowstore.Skip
	if err == nil {
		commands, err = process.AllSkipped(ctx, c.db, maxListed)
	}
	if err != nil {
		return fmt.Errorf("read what was skipped: %w", err)
	}
	shown := []shownSkip{}
	for _, s := range slices.Concat(events, commands) {
		shown = append(shown, shownSkip{operate.Name(s.Key), s})
	}
	return c.print(true, map[string]any{"skipped": shown})
}
