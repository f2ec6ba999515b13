package ctl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

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

const aboutSkip = `Skips the event that an aggregate is parked on: the event stays in the journal, its effect is
missing from the rows. With --event, drops a failing command of a process: it is not sent again. Who decided it and
why is stored: see dead-letters list --skipped. Skip only what can't be fixed: often a newer release reads the event,
and a retry is enough.`

// maxListed limits lists.
const maxListed = 100_000

func (o *operator) deadLetters() *cli.Command {
	of := []cli.Flag{
		tenantFlag,
		&cli.StringFlag{Name: "projection", Value: chatrows.Projection, Usage: "name of the projection or process"},
		&cli.StringFlag{Name: "event", Usage: "a command of the process, by the id of the event that caused it"},
	}
	return o.group("dead-letters", "lists, retries or skips parked aggregates and failing commands",
		o.command(readModel, nil, (*call).listLetters, &cli.Command{
			Name: "list", Usage: "lists parked aggregates and failing commands of all projections and processes", Description: aboutLetters,
			Flags: []cli.Flag{&cli.BoolFlag{Name: "skipped", Usage: "list skipped events and commands instead, with who skipped them and why"}},
		}),
		o.command(readModel, nil, (*call).showLetter, &cli.Command{
			Name: "show", Usage: "shows why one is parked or fails, with the event or the command", ArgsUsage: "AID", Description: aboutLetters,
			Flags: slices.Clone(of),
		}),
		o.command(readModel, eventNeedsAID, (*call).retryLetter, &cli.Command{
			Name: "retry", Usage: "retries one, or all of the projection or process", ArgsUsage: "[AID]", Description: aboutLetters, Flags: slices.Clone(of),
		}),
		o.command(readModel, reasonGiven, (*call).skipLetter, &cli.Command{
			Name: "skip", Usage: "skips the event that an aggregate is parked on, or drops a failing command", ArgsUsage: "AID", Description: aboutSkip,
			Flags: append(slices.Clone(of),
				&cli.StringFlag{Name: "reason", Usage: "why it is skipped; stored with the skip", Required: true},
				&cli.StringFlag{Name: "by", Usage: "who decided it; default: USER, or the user who runs this program"}),
		}))
}

func eventNeedsAID(cmd *cli.Command) error {
	if cmd.IsSet("event") && cmd.NArg() == 0 {
		return wrong(cmd, "--event needs the AID of the command's target")
	}
	return nil
}

func reasonGiven(cmd *cli.Command) error {
	if cmd.String("reason") == "" {
		return wrong(cmd, "say with --reason why")
	}
	return nil
}

// stuck is a parked aggregate, or a failing command of a process.
type stuck struct {
	of      string // the projection or process
	target  es.AggregateID
	event   string // of a command: what caused it; otherwise empty
	shown   any    // for programs: an operate.Letter or a shownCommand
	text    string // for people
	payload []byte // of the dead letter
}

func parked(l projection.DeadLetter) stuck {
	return stuck{
		of: l.Projection, target: l.Key, shown: operate.LetterOf(l), payload: l.Payload,
		text: fmt.Sprintf("%s is parked on event %d in the projection %s since %s\n%s",
			whose(l.Key), l.SeqNr, l.Projection, l.ParkedAt.Format(time.RFC3339), attempts(l.Reason, l.Attempts, l.RetryAt)),
	}
}

// shownCommand is a failing command of a process for programs.
type shownCommand struct {
	Process       string    `json:"process"`
	Tenant        string    `json:"tenant"`
	AID           string    `json:"aid"` // the command's aggregate
	Command       string    `json:"command"`
	EventID       string    `json:"event_id"`
	Executor      string    `json:"executor_id"`
	CausationID   string    `json:"causation_id"`
	CorrelationID string    `json:"correlation_id"`
	Reason        string    `json:"reason"`
	Attempts      int       `json:"attempts"`
	FailingSince  time.Time `json:"failing_since"`
	RetryAt       time.Time `json:"retry_at"`
}

func failing(p process.Pending) stuck {
	return stuck{
		of: p.Process, target: p.Target, event: p.EventID,
		shown: shownCommand{
			p.Process, p.Target.Tenant.String(), p.Target.String(), p.Name, p.EventID, p.Executor, p.CausationID, p.CorrelationID,
			p.Reason, p.Attempts, p.FailingSince, p.DueAt,
		},
		text: fmt.Sprintf("%s: the command %s of the process %s has failed since %s\n%s  event     %s\n",
			whose(p.Target), p.Name, p.Process, p.FailingSince.Format(time.RFC3339), attempts(p.Reason, p.Attempts, p.DueAt), p.EventID),
	}
}

func attempts(reason string, count int, next time.Time) string {
	return fmt.Sprintf("  reason    %s\n  attempts  %d, the next at %s\n", reason, count, next.Format(time.RFC3339))
}

// stuck reads those that the argument and the flags select, parked aggregates first.
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
	name, event := c.cmd.String("projection"), c.cmd.String("event")
	return slices.DeleteFunc(found, func(s stuck) bool {
		isAnother := c.id != es.AggregateID{} && (s.target != c.id || s.event != event)
		return isAnother || name != "" && s.of != name || !c.wanted(s.target)
	}), nil
}

// one reads the one that the argument and the flags name.
func (c *call) one(ctx context.Context) (stuck, error) {
	found, err := c.stuck(ctx)
	if err != nil {
		return stuck{}, err
	}
	if len(found) > 0 {
		return found[0], nil
	}
	name, event := c.cmd.String("projection"), c.cmd.String("event")
	if event != "" {
		return stuck{}, fmt.Errorf("no command of the process %s for %s that follows from the event %q fails; `dead-letters list` tells what does", name, whose(c.id), event)
	}
	return stuck{}, fmt.Errorf("%s is not parked in the projection %s; `dead-letters list` tells what is", whose(c.id), name)
}

func (c *call) listLetters(ctx context.Context) error {
	if c.cmd.Bool("skipped") {
		return c.listSkips(ctx)
	}
	found, err := c.stuck(ctx)
	if err != nil {
		return err
	}
	commands := 0
	for _, each := range found {
		if each.event != "" {
			commands++
		}
	}
	return c.printStuck(found, fmt.Sprintf("%d aggregates are parked, %s commands fail\n", len(found)-commands, upTo(commands)))
}

// printStuck prints all, and then a text.
func (c *call) printStuck(found []stuck, end string) error {
	lists := map[string][]any{"parked": {}, "commands": {}}
	var text strings.Builder
	for _, each := range found {
		list := "parked"
		if each.event != "" {
			list = "commands"
		}
		lists[list] = append(lists[list], each.shown)
		of := each.of
		if of == chatrows.Projection {
			of = "" // the default
		}
		fmt.Fprintf(&text, "%s  next      %s tells more; `retry` it once its reason is gone, or `skip` it\n",
			each.text, commandLine("dead-letters show", each.target, "projection", of, "event", each.event))
	}
	return c.print(len(found) == 0, lists, text.String()+end)
}

// upTo is the number of listed items, marked if there may be more.
func upTo(n int) string {
	if n == maxListed {
		return fmt.Sprint(n, " or more")
	}
	return fmt.Sprint(n)
}

// shownSkip is a skipped event of a projection for people and programs, or a skipped command of a process.
type shownSkip struct {
	Projection string    `json:"projection"`
	Tenant     string    `json:"tenant"`
	AID        string    `json:"aid"`
	SeqNr      uint64    `json:"seq_nr,omitempty"`  // of an event
	Command    string    `json:"command,omitempty"` // the name of one
	EventID    string    `json:"event_id"`
	Cause      string    `json:"cause"`
	Reason     string    `json:"reason"`
	By         string    `json:"by"`
	At         time.Time `json:"at"`
}

func (c *call) listSkips(ctx context.Context) error {
	skips, err := rowstore.Skips(ctx, c.db, maxListed)
	var commands []process.Skipped
	if err == nil {
		commands, err = process.AllSkipped(ctx, c.db, maxListed)
	}
	if err != nil {
		return fmt.Errorf("read what was skipped: %w", err)
	}
	shown, text := []shownSkip{}, strings.Builder{}
	add := func(id es.AggregateID, what string, s shownSkip) {
		s.Tenant, s.AID = id.Tenant.String(), id.String()
		shown = append(shown, s)
		fmt.Fprintf(&text, "%s: %s %s by %s at %s\n  reason    %s\n  cause     %s\n", whose(id), what, s.Projection, s.By, s.At.Format(time.RFC3339), s.Reason, s.Cause)
	}
	for _, s := range skips {
		add(s.Key, fmt.Sprintf("event %d was left out of the projection", s.SeqNr),
			shownSkip{Projection: s.Projection, SeqNr: s.SeqNr, EventID: s.EventID, Cause: s.Cause, Reason: s.Reason, By: s.By, At: s.At})
	}
	for _, s := range commands {
		add(s.Target, fmt.Sprintf("the command %s was left out of the process", s.Name),
			shownSkip{Projection: s.Process, Command: s.Name, EventID: s.EventID, Cause: s.Cause, Reason: s.Reason, By: s.By, At: s.At})
	}
	fmt.Fprintf(&text, "%s events and %s commands were skipped\n", upTo(len(skips)), upTo(len(commands)))
	return c.print(true, map[string]any{"skipped": shown}, text.String())
}

func (c *call) showLetter(ctx context.Context) error {
	found, err := c.one(ctx)
	if err != nil {
		return err
	}
	if p, isCommand := found.shown.(shownCommand); isCommand {
		return c.print(false, p, found.text+fmt.Sprintf("  cause     %s\n  executor  %s\n  correlation %s\n", p.CausationID, p.Executor, p.CorrelationID))
	}
	letter := found.shown.(operate.Letter)
	if len(found.payload) == 0 {
		if found.payload, err = c.payloadOf(ctx, found.target, letter.SeqNr); err != nil {
			return err
		}
	}
	if letter.Event = string(found.payload); json.Valid(found.payload) {
		letter.Event = json.RawMessage(found.payload)
	}
	return c.print(false, letter, found.text+fmt.Sprintf("  event     %s\n", indent("  ", letter.Event)))
}

// payloadOf returns the event as stored in the journal.
func (c *call) payloadOf(ctx context.Context, id es.AggregateID, seqNr uint64) (payload []byte, err error) {
	if c.store, err = c.Open(ctx, c.log); err != nil {
		return nil, err
	}
	for entry, err := range c.store.Gateway.Entries(ctx, id, seqNr-1, seqNr) {
		if err != nil {
			return fmt.Appendf(nil, "it can't be read from the journal: %v", err), nil
		}
		return entry.Payload, nil
	}
	return []byte("it is not in the journal"), nil
}

func (c *call) retryLetter(ctx context.Context) error {
	due, err := c.stuck(ctx)
	if err == nil && c.id != (es.AggregateID{}) {
		_, err = c.one(ctx)
	}
	switch {
	case err != nil:
		return err
	case len(due) == 0:
		return c.printStuck(nil, fmt.Sprintf("nothing to retry: in %s no aggregate is parked and no command fails\n", c.cmd.String("projection")))
	}
	return c.outcome(ctx)
}

const (
	// outcomeWithin limits the wait for a retry: programs check every second what is due.
	outcomeWithin = 10 * time.Second
	retryEvery    = 500 * time.Millisecond
)

// outcome retries what the argument and the flags select until nothing is stuck or time is up, and prints what still
// is. More than once, because the first attempt may have begun before the cause was fixed.
func (c *call) outcome(ctx context.Context) error {
	store, commands, err := c.queues()
	if err != nil {
		return err
	}
	for end := time.Now().Add(outcomeWithin); ; {
		left, err := c.stuck(ctx)
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
				err = store.Retry(ctx, each.target, time.Now())
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

// queues returns what the flag --projection names: the dead letters of a projection, and the commands of a process.
func (c *call) queues() (*rowstore.Store, *process.Outbox, error) {
	name := c.cmd.String("projection")
	store, err := rowstore.New(c.db, name)
	return store, process.New(c.db, store, name, c.log), err
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

func (c *call) skipLetter(ctx context.Context) error {
	found, err := c.one(ctx)
	if err != nil {
		return err
	}
	store, commands, err := c.queues()
	if err != nil {
		return err
	}
	reason, by := c.cmd.String("reason"), c.skipper(c.cmd)
	if letter, isParked := found.shown.(operate.Letter); isParked {
		err = store.SkipEvent(ctx, found.target, letter.SeqNr, reason, by, time.Now())
	} else {
		err = commands.Skip(ctx, found.target, found.event, reason, by, time.Now())
	}
	if err != nil {
		return err
	}
	return c.outcome(ctx)
}
