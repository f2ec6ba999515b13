package ctl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/process"
	"example.com/threads/es/rowstore"
	"example.com/threads/extras/operate"
)

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

// Run shows one, with its event or command.
func (cmd *showLetter) Run(ctx context.Context, c *call) error {
	found, err := cmd.only(ctx, c, cmd.aggregates)
	if err != nil {
		return err
	}
	letter, isParked := found.shown.(operate.Letter)
	if !isParked {
		return c.print(false, found.shown, found.text)
	}
	payload := []byte("it is not in the journal")
	for entry, err := range c.store.Gateway.Entries(ctx, found.target, letter.SeqNr-1, letter.SeqNr) {
		payload = entry.Payload
		if err != nil {
			payload = fmt.Appendf(nil, "it can't be read from the journal: %v", err)
		}
	}
	if letter.Event = string(payload); json.Valid(payload) {
		letter.Event = json.RawMessage(payload)
	}
	return c.print(false, letter, found.text+fmt.Sprintf("  event     %s\n", indent("  ", letter.Event)))
}

type retryLetter struct {
	some
	queue
}

// Run retries one, or all of the queue.
func (cmd *retryLetter) Run(ctx context.Context, c *call) error {
	due, err := cmd.find(ctx, c, cmd.aggregates)
	if err == nil && cmd.AID != nil {
		_, err = cmd.only(ctx, c, cmd.aggregates)
	}
	switch {
	case err != nil:
		return err
	case len(due) == 0:
		return c.printStuck(nil, fmt.Sprintf("nothing to retry: in %s no aggregate is parked and no command fails\n", cmd.Projection))
	}
	return cmd.retry(ctx, c, cmd.aggregates)
}

const (
	// outcomeWithin limits the wait for a retry: programs check every second what is due.
	outcomeWithin = 10 * time.Second
	retryEvery    = 500 * time.Millisecond
)

// retry retries what a call selects until nothing is stuck or time is up, and prints what still is. More than once,
// because the first attempt may have begun before the cause was fixed.
func (q queue) retry(ctx context.Context, c *call, of aggregates) error {
	letters, commands, err := q.stores(c)
	if err != nil {
		return err
	}
	for end := time.Now().Add(outcomeWithin); ; {
		left, err := q.find(ctx, c, of)
		switch {
		case err != nil:
			return err
		case len(left) == 0:
			return c.printStuck(left, "all continue\n")
		case time.Now().After(end):
			return c.printStuck(left, "still stuck: if no attempt was made, is the program of this projection or process running?\n")
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

// Validate checks the argument and the flags.
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

// Run skips one.
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
	return cmd.retry(ctx, c, cmd.aggregates)
}
