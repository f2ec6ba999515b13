package ctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/process"
	"example.com/threads/es/rowstore"
	"example.com/threads/extras/operate"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
)

const aboutLetters = `An event that can't be projected parks its aggregate: its rows do not change, all others
continue. A failing command of a process waits and does not delay others. Both are retried automatically, after pauses
that grow to five minutes.

An aggregate is named by its AID and the projection that it is parked in, a command by the AID of its target, the
process (--projection) and the event that caused it (--event): list prints all of them.`

const (
	maxListed     = 100_000          // in a list
	outcomeWithin = 10 * time.Second // for a retry: programs check every second what is due
	retryEvery    = 500 * time.Millisecond
)

// stuck is a parked aggregate, or a failing command of a process.
type stuck struct {
	of     string // the projection or process
	target es.AggregateID
	event  string // of a command: what caused it; otherwise empty
	seqNr  uint64 // of the event that an aggregate is parked on
	shown  any    // an operate.Letter or a shownCommand
}

// next says what to do.
func (s stuck) next() string {
	var flags []string
	if s.of != chatrows.Projection { // the default
		flags = append(flags, "--projection", s.of)
	}
	if s.event != "" {
		flags = append(flags, "--event", s.event)
	}
	return commandLine("dead-letters show", s.target, flags...) + " tells more; `retry` it once its reason is gone, or `skip` it"
}

// shownCommand is a failing command of a process.
type shownCommand struct {
	operate.Named // the command's aggregate
	process.Pending
	Next string `json:"next"`
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
	for _, l := range letters {
		s := stuck{of: l.Projection, target: l.Key, seqNr: l.SeqNr}
		s.shown = operate.Letter{Named: operate.Name(l.Key), DeadLetter: l, Next: s.next()}
		found = append(found, s)
	}
	for _, p := range commands {
		s := stuck{of: p.Process, target: p.Target, event: p.EventID}
		s.shown = shownCommand{operate.Name(p.Target), p, s.next()}
		found = append(found, s)
	}
	return found, nil
}

// printStuck prints all, and the outcome of a retry.
func (c *call) printStuck(found []stuck, outcome string) error {
	shown := struct {
		Parked   []any  `json:"parked"`
		Commands []any  `json:"commands"`
		Outcome  string `json:"outcome,omitempty"`
	}{[]any{}, []any{}, outcome}
	for _, each := range found {
		if each.event == "" {
			shown.Parked = append(shown.Parked, each.shown)
		} else {
			shown.Commands = append(shown.Commands, each.shown)
		}
	}
	return c.print(len(found) == 0, shown)
}

type listLetters struct {
	Skipped bool `help:"list skipped events and commands instead, with who skipped them and why"`
}

func (listLetters) Help() string { return aboutLetters }

func (cmd *listLetters) Run(ctx context.Context, c *call) error {
	if cmd.Skipped {
		return c.listSkips(ctx)
	}
	found, err := c.stuck(ctx)
	if err == nil {
		err = c.printStuck(found, "")
	}
	return err
}

func (c *call) listSkips(ctx context.Context) error {
	skips, err := rowstore.Skips(ctx, c.db, maxListed)
	if err != nil {
		return fmt.Errorf("read what was skipped: %w", err)
	}
	type skip struct {
		operate.Named
		rowstore.Skip
	}
	shown := []skip{}
	for _, s := range skips {
		shown = append(shown, skip{operate.Name(s.Key), s})
	}
	return c.print(true, map[string]any{"skipped": shown})
}

// queue has the dead letters of a projection, or the failing commands of a process.
type queue struct {
	Projection string `default:"${read_model}" help:"name of the projection or process"`
	Event      string `help:"a command of the process, by the id of the event that caused it"`
}

func (queue) Help() string { return aboutLetters }

// stores returns the dead letters of the projection, and the commands of the process.
func (q queue) stores(c *call) (*rowstore.Store, *process.Outbox, error) {
	store, err := rowstore.New(c.db, q.Projection)
	return store, process.New(c.db, store, q.Projection, c.log), err
}

// find reads those that a call selects.
func (q queue) find(ctx context.Context, c *call, of aggregates) ([]stuck, error) {
	found, err := c.stuck(ctx)
	isNamed := of.id != es.AggregateID{}
	found = slices.DeleteFunc(found, func(s stuck) bool {
		return s.of != q.Projection || !of.have(s.target) || (isNamed || q.Event != "") && s.event != q.Event
	})
	return found, err
}

// only reads the one that a call names.
func (q queue) only(ctx context.Context, c *call, of aggregates) (stuck, error) {
	found, err := q.find(ctx, c, of)
	switch {
	case err != nil:
		return stuck{}, err
	case len(found) > 0:
		return found[0], nil
	case q.Event != "":
		return stuck{}, fmt.Errorf("no command of the process %s for %s that follows from the event %q fails; `dead-letters list` tells what does",
			q.Projection, operate.Name(of.id), q.Event)
	}
	return stuck{}, fmt.Errorf("%s is not parked in the projection %s; `dead-letters list` tells what is", operate.Name(of.id), q.Projection)
}

type showLetter struct {
	one
	queue
}

func (cmd *showLetter) Run(ctx context.Context, c *call) error {
	found, err := cmd.only(ctx, c, cmd.aggregates)
	if err != nil {
		return err
	}
	letter, isParked := found.shown.(operate.Letter)
	if !isParked {
		return c.print(false, found.shown)
	}
	payload := []byte("it is not in the journal")
	for entry, err := range c.store.Gateway.Entries(ctx, found.target, letter.SeqNr-1, letter.SeqNr) {
		payload = entry.Payload
		if err != nil {
			payload = fmt.Appendf(nil, "it can't be read from the journal: %v", err)
		}
	}
	letter.Event = operate.Payload(payload)
	return c.print(false, letter)
}

type retryLetter struct {
	some
	queue
}

func (cmd *retryLetter) Run(ctx context.Context, c *call) error {
	if cmd.AID != nil {
		if _, err := cmd.only(ctx, c, cmd.aggregates); err != nil {
			return err
		}
	}
	return cmd.retry(ctx, c, cmd.aggregates, fmt.Sprintf("nothing to retry: in %s no aggregate is parked and no command fails", cmd.Projection))
}

// retry retries what a call selects until nothing is stuck or time is up, and prints what still is; none says that
// nothing was. More than once, because the first attempt may have begun before the cause was fixed.
func (q queue) retry(ctx context.Context, c *call, of aggregates, none string) error {
	letters, commands, err := q.stores(c)
	if err != nil {
		return err
	}
	for end := time.Now().Add(outcomeWithin); ; none = "all continue" {
		left, err := q.find(ctx, c, of)
		switch {
		case err != nil:
			return err
		case len(left) == 0:
			return c.printStuck(left, none)
		case time.Now().After(end):
			return c.printStuck(left, "still stuck: if no attempt was made, is the program of this projection or process running?")
		}
		for _, each := range left {
			if each.event != "" {
				err = commands.Retry(ctx, each.target, each.event, time.Now())
			} else {
				err = letters.Retry(ctx, each.target, time.Now())
			}
			if err != nil && !errors.Is(err, rowstore.ErrNotParked) { // it may no longer be stuck
				return err
			}
		}
		if err := es.Wait(ctx, retryEvery); err != nil {
			return err
		}
	}
}

type skipLetter struct {
	one
	queue
	Reason string `required:"" help:"why it is skipped; stored with the skip"`
	By     string `help:"who decided it; default: USER, or the number of the user who runs this program"`
}

func (cmd *skipLetter) Validate() error {
	if cmd.Reason == "" {
		return errors.New("say with --reason why")
	}
	return cmd.one.Validate()
}

func (skipLetter) Help() string {
	return `Skips the event that an aggregate is parked on: the event stays in the journal, its effect is
missing from the rows. With --event, drops a failing command of a process: it is not sent again. Who decided it and
why is stored: see dead-letters list --skipped. Skip only what can't be fixed: often a newer release reads the event,
and a retry is enough.`
}

// who is the user who skips. In a container USER may not be set.
func (cmd *skipLetter) who(getenv func(string) string) string {
	return cmp.Or(cmd.By, getenv("USER"), fmt.Sprintf("user %d", os.Getuid()))
}

func (cmd *skipLetter) Run(ctx context.Context, c *call) error {
	found, err := cmd.only(ctx, c, cmd.aggregates)
	if err != nil {
		return err
	}
	letters, commands, err := cmd.stores(c)
	if err != nil {
		return err
	}
	by := cmd.who(c.getenv)
	if found.event != "" {
		err = commands.Skip(ctx, found.target, found.event, cmd.Reason, by, time.Now())
	} else {
		err = letters.SkipEvent(ctx, found.target, found.seqNr, cmd.Reason, by, time.Now())
	}
	if err != nil {
		return err
	}
	return cmd.retry(ctx, c, cmd.aggregates, "all continue")
}
