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

// shownCommand is a failing command of a process for people and programs.
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

func commandOf(p process.Pending) shownCommand {
	return shownCommand{
		Process: p.Process, Tenant: p.Target.Tenant.String(), AID: p.Target.String(), Command: p.Name, EventID: p.EventID, Executor: p.Executor,
		CausationID: p.CausationID, CorrelationID: p.CorrelationID, Reason: p.Reason, Attempts: p.Attempts, FailingSince: p.FailingSince, RetryAt: p.DueAt,
	}
}

func (c shownCommand) text() string {
	return fmt.Sprintf("%s: the command %s of the process %s has failed since %s\n  reason    %s\n  attempts  %d, the next at %s\n  event     %s\n",
		whose(c.Tenant, c.AID), c.Command, c.Process, c.FailingSince.Format(time.RFC3339), c.Reason, c.Attempts, c.RetryAt.Format(time.RFC3339), c.EventID)
}

func textOfLetter(l operate.Letter) string {
	return fmt.Sprintf("%s is parked on event %d in the projection %s since %s\n  reason    %s\n  attempts  %d, the next at %s\n",
		whose(l.Tenant, l.AID), l.SeqNr, l.Projection, l.ParkedAt.Format(time.RFC3339), l.Reason, l.Attempts, l.RetryAt.Format(time.RFC3339))
}

// stuck are parked aggregates and failing commands of processes.
type stuck struct {
	letters  []projection.DeadLetter
	commands []process.Pending
}

// stuck reads those that the argument and the flags select.
func (c *call) stuck(ctx context.Context) (found stuck, err error) {
	if found.letters, err = rowstore.Letters(ctx, c.db); err != nil {
		return found, fmt.Errorf("read the dead letters: %w", err)
	}
	if found.commands, err = process.AllFailing(ctx, c.db, maxListed); err != nil {
		return found, fmt.Errorf("read the commands of processes: %w", err)
	}
	named, event := c.id != es.AggregateID{}, c.cmd.String("event")
	selected := func(of string, id es.AggregateID) bool {
		name := c.cmd.String("projection")
		return (name == "" || of == name) && c.wanted(id) && (!named || id == c.id)
	}
	found.letters = slices.DeleteFunc(found.letters, func(l projection.DeadLetter) bool {
		return event != "" || !selected(l.Projection, l.Key)
	})
	found.commands = slices.DeleteFunc(found.commands, func(p process.Pending) bool {
		return named && p.EventID != event || !selected(p.Process, p.Target)
	})
	return found, nil
}

// one reads the one that the argument and the flags name.
func (c *call) one(ctx context.Context) (stuck, error) {
	found, err := c.stuck(ctx)
	if err != nil || found.count() > 0 {
		return found, err
	}
	name, aid := c.cmd.String("projection"), whose(c.id.Tenant.String(), c.id.String())
	if event := c.cmd.String("event"); event != "" {
		return found, fmt.Errorf("no command of the process %s for %s that follows from the event %q fails; `dead-letters list` tells what does", name, aid, event)
	}
	return found, fmt.Errorf("%s is not parked in the projection %s; `dead-letters list` tells what is", aid, name)
}

func (s stuck) count() int { return len(s.letters) + len(s.commands) }

func (c *call) listLetters(ctx context.Context) error {
	if c.cmd.Bool("skipped") {
		return c.listSkips(ctx)
	}
	found, err := c.stuck(ctx)
	if err != nil {
		return err
	}
	return c.printStuck(found, fmt.Sprintf("%d aggregates are parked, %s commands fail\n", len(found.letters), upTo(len(found.commands))))
}

// printStuck prints all, and then a text.
func (c *call) printStuck(found stuck, end string) error {
	parked, commands := []operate.Letter{}, []shownCommand{}
	var text strings.Builder
	for _, each := range found.letters {
		letter := operate.LetterOf(each.Projection, each)
		parked = append(parked, letter)
		text.WriteString(textOfLetter(letter) + next(letter.AID, letter.Tenant, letter.Projection, ""))
	}
	for _, each := range found.commands {
		command := commandOf(each)
		commands = append(commands, command)
		text.WriteString(command.text() + next(command.AID, command.Tenant, command.Process, command.EventID))
	}
	return c.print(found.count() == 0, map[string]any{"parked": parked, "commands": commands}, text.String()+end)
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
	return fmt.Sprintf("  next      %s tells more; `retry` it once its reason is gone, or `skip` it\n",
		commandLine("dead-letters show", aid, tenant, "projection", of, "event", event))
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
	if err != nil {
		return fmt.Errorf("read what was skipped: %w", err)
	}
	commands, err := process.AllSkipped(ctx, c.db, maxListed)
	if err != nil {
		return fmt.Errorf("read what was skipped: %w", err)
	}
	shown := []shownSkip{}
	for _, s := range skips {
		shown = append(shown, shownSkip{s.Projection, s.Key.Tenant.String(), s.Key.String(), s.SeqNr, "", s.EventID, s.Cause, s.Reason, s.By, s.At})
	}
	for _, s := range commands {
		shown = append(shown, shownSkip{s.Process, s.Target.Tenant.String(), s.Target.String(), 0, s.Name, s.EventID, s.Cause, s.Reason, s.By, s.At})
	}
	var text strings.Builder
	for _, s := range shown {
		what := fmt.Sprintf("event %d was left out of the projection", s.SeqNr)
		if s.Command != "" {
			what = fmt.Sprintf("the command %s was left out of the process", s.Command)
		}
		fmt.Fprintf(&text, "%s: %s %s by %s at %s\n  reason    %s\n  cause     %s\n",
			whose(s.Tenant, s.AID), what, s.Projection, s.By, s.At.Format(time.RFC3339), s.Reason, s.Cause)
	}
	fmt.Fprintf(&text, "%s events and %s commands were skipped\n", upTo(len(skips)), upTo(len(commands)))
	return c.print(true, map[string]any{"skipped": shown}, text.String())
}

func (c *call) showLetter(ctx context.Context) error {
	found, err := c.one(ctx)
	if err != nil {
		return err
	}
	if len(found.commands) > 0 {
		shown := commandOf(found.commands[0])
		return c.print(false, shown, shown.text()+
			fmt.Sprintf("  cause     %s\n  executor  %s\n  correlation %s\n", shown.CausationID, shown.Executor, shown.CorrelationID))
	}
	letter := found.letters[0]
	payload := letter.Payload
	if len(payload) == 0 {
		if payload, err = c.payloadOf(ctx, letter); err != nil {
			return err
		}
	}
	shown := operate.LetterOf(letter.Projection, letter)
	if shown.Event = string(payload); json.Valid(payload) {
		shown.Event = json.RawMessage(payload)
	}
	return c.print(false, shown, textOfLetter(shown)+fmt.Sprintf("  event     %s\n", indent("  ", shown.Event)))
}

// payloadOf returns the event as stored in the journal.
func (c *call) payloadOf(ctx context.Context, letter projection.DeadLetter) (payload []byte, err error) {
	if c.store, err = c.Open(ctx, c.log); err != nil {
		return nil, err
	}
	for entry, err := range c.store.Gateway.Entries(ctx, letter.Key, letter.SeqNr-1, letter.SeqNr) {
		if err != nil {
			return fmt.Appendf(nil, "it can't be read from the journal: %v", err), nil
		}
		return entry.Payload, nil
	}
	return []byte("it is not in the journal"), nil
}

func (c *call) retryLetter(ctx context.Context) error {
	read := c.stuck
	if c.id != (es.AggregateID{}) {
		read = c.one
	}
	due, err := read(ctx)
	if err != nil {
		return err
	}
	if due.count() == 0 {
		text := fmt.Sprintf("nothing to retry: in %s no aggregate is parked and no command fails\n", c.cmd.String("projection"))
		return c.print(true, map[string]any{"parked": []operate.Letter{}, "commands": []shownCommand{}}, text)
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
	for end := time.Now().Add(outcomeWithin); ; {
		left, err := c.stuck(ctx)
		switch {
		case err != nil:
			return err
		case left.count() == 0:
			return c.printStuck(left, "all continue\n")
		case time.Now().After(end):
			return c.printStuck(left, "still stuck: if no attempt was made, is the program of this projection or process running?\n")
		}
		if err := c.retry(ctx, left); err != nil {
			return err
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

// retry makes them due. Some may no longer be stuck.
func (c *call) retry(ctx context.Context, due stuck) error {
	store, commands, err := c.queues()
	for _, each := range due.letters {
		if err == nil {
			err = unlessGone(store.Retry(ctx, each.Key, time.Now()))
		}
	}
	for _, each := range due.commands {
		if err == nil {
			err = unlessGone(commands.Retry(ctx, each.Target, each.EventID, time.Now()))
		}
	}
	return err
}

func unlessGone(err error) error {
	if errors.Is(err, rowstore.ErrNotParked) {
		return nil
	}
	return err
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
	for _, each := range found.letters {
		err = store.SkipEvent(ctx, each.Key, each.SeqNr, reason, by, time.Now())
	}
	for _, each := range found.commands {
		err = commands.Skip(ctx, each.Target, each.EventID, reason, by, time.Now())
	}
	if err != nil {
		return err
	}
	return c.outcome(ctx)
}
