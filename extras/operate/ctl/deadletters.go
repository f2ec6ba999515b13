package ctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// shownCommand is a failing command of a process.
type shownCommand struct {
	operate.Named // the command's aggregate
	process.Pending
	Next string `json:"next"`
}

// stuck has parked aggregates, and failing commands of processes.
type stuck struct {
	Parked   []operate.Letter `json:"parked"`
	Commands []shownCommand   `json:"commands"`
	Outcome  string           `json:"outcome,omitempty"` // of a retry
}

func (s stuck) count() int { return len(s.Parked) + len(s.Commands) }

// next says what to do about something that is stuck.
func next(in string, target es.AggregateID, event string) string {
	var flags []string
	if in != chatrows.Projection { // the default
		flags = append(flags, "--projection", in)
	}
	if event != "" {
		flags = append(flags, "--event", event)
	}
	return commandLine("dead-letters show", target, flags...) + " tells more; `retry` it once its reason is gone, or `skip` it"
}

type listLetters struct {
	Skipped bool `help:"list skipped events and commands instead, with who skipped them and why"`
}

func (listLetters) Help() string { return aboutLetters }

func (cmd *listLetters) Run(ctx context.Context, c *call) error {
	if !cmd.Skipped {
		found, err := queue{}.find(ctx, c, aggregates{})
		if err != nil {
			return err
		}
		return c.print(found.count() == 0, found)
	}
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

// find reads what a call selects, in one or all projections and processes: an aggregate, or a command by its event.
func (q queue) find(ctx context.Context, c *call, of aggregates) (stuck, error) {
	found := stuck{Parked: []operate.Letter{}, Commands: []shownCommand{}}
	letters, err := rowstore.Letters(ctx, c.db, maxListed)
	if err != nil {
		return found, fmt.Errorf("read the dead letters: %w", err)
	}
	commands, err := process.AllFailing(ctx, c.db, maxListed)
	if err != nil {
		return found, fmt.Errorf("read the commands of processes: %w", err)
	}
	selects := func(in string, target es.AggregateID, event string) bool {
		isWanted := event == q.Event || q.Event == "" && of.id == es.AggregateID{}
		return isWanted && of.have(target) && (in == q.Projection || q.Projection == "")
	}
	for _, l := range letters {
		if selects(l.Projection, l.Key, "") {
			found.Parked = append(found.Parked, operate.Letter{Named: operate.Name(l.Key), DeadLetter: l, Next: next(l.Projection, l.Key, "")})
		}
	}
	for _, p := range commands {
		if selects(p.Process, p.Target, p.EventID) {
			found.Commands = append(found.Commands, shownCommand{operate.Name(p.Target), p, next(p.Process, p.Target, p.EventID)})
		}
	}
	return found, nil
}

// only reads the one that a call names.
func (q queue) only(ctx context.Context, c *call, of aggregates) (stuck, error) {
	found, err := q.find(ctx, c, of)
	if err == nil && found.count() == 0 {
		named := operate.Name(of.id).String()
		switch {
		case of.id == es.AggregateID{}:
			named = fmt.Sprintf("a command that follows from the event %q", q.Event)
		case q.Event != "":
			named = fmt.Sprintf("the command for %s that follows from the event %q", named, q.Event)
		}
		err = fmt.Errorf("%s is not stuck in %s; `dead-letters list` tells what is", named, q.Projection)
	}
	return found, err
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
	if len(found.Parked) == 0 {
		return c.print(false, found.Commands[0])
	}
	letter := found.Parked[0]
	payload := []byte("it is not in the journal")
	for entry, err := range c.store.Gateway.Entries(ctx, cmd.id, letter.SeqNr-1, letter.SeqNr) {
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
	if cmd.AID != nil || cmd.Event != "" {
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
	for end := time.Now().Add(outcomeWithin); err == nil; none = "all continue" {
		left, failed := q.find(ctx, c, of)
		switch {
		case failed != nil:
			return failed
		case left.count() == 0:
			left.Outcome = none
			return c.print(true, left)
		case time.Now().After(end):
			left.Outcome = "still stuck: if no attempt was made, is the program of this projection or process running?"
			return c.print(false, left)
		}
		for _, l := range left.Parked {
			if err := letters.Retry(ctx, l.Key, time.Now()); err != nil && !errors.Is(err, rowstore.ErrNotParked) {
				return err // otherwise it may have gone on
			}
		}
		for _, p := range left.Commands {
			if err := commands.Retry(ctx, p.Target, p.EventID, time.Now()); err != nil && !errors.Is(err, rowstore.ErrNotParked) {
				return err
			}
		}
		err = es.Wait(ctx, retryEvery)
	}
	return err
}

type skipLetter struct {
	one
	queue
	Reason string `required:"" help:"why it is skipped; stored with the skip"`
	By     string `default:"${user}" help:"who decided it; ${default} unless set"`
}

func (cmd *skipLetter) Validate() error {
	if cmd.Reason == "" || cmd.By == "" {
		return errors.New("say with --reason why, and with --by who decided it")
	}
	return cmd.one.Validate()
}

func (skipLetter) Help() string {
	return `Skips the event that an aggregate is parked on: the event stays in the journal, its effect is
missing from the rows. With --event, drops a failing command of a process: it is not sent again. Who decided it and
why is stored: see dead-letters list --skipped. Skip only what can't be fixed: often a newer release reads the event,
and a retry is enough.`
}

func (cmd *skipLetter) Run(ctx context.Context, c *call) error {
	found, err := cmd.only(ctx, c, cmd.aggregates)
	letters, commands, storesErr := cmd.stores(c)
	if err := cmp.Or(err, storesErr); err != nil {
		return err
	}
	if len(found.Parked) > 0 {
		err = letters.SkipEvent(ctx, cmd.id, found.Parked[0].SeqNr, cmd.Reason, cmd.By, time.Now())
	} else {
		err = commands.Skip(ctx, cmd.id, cmd.Event, cmd.Reason, cmd.By, time.Now())
	}
	if err != nil {
		return err
	}
	return cmd.retry(ctx, c, cmd.aggregates, "all continue")
}
