package ctl

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

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
const maxListed = 1000

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

func (c *call) listLetters(ctx context.Context) error {
	if c.cmd.Bool("skipped") {
		return c.listSkips(ctx)
	}
	letters, err := rowstore.Letters(ctx, c.db)
	if err != nil {
		return fmt.Errorf("read the dead letters: %w", err)
	}
	failing, err := process.AllFailing(ctx, c.db, maxListed)
	if err != nil {
		return fmt.Errorf("read the commands of processes: %w", err)
	}
	parked, commands := []operate.Letter{}, []shownCommand{}
	var text strings.Builder
	for _, each := range letters {
		letter := operate.LetterOf(each.Projection, each)
		parked = append(parked, letter)
		text.WriteString(textOfLetter(letter) + next(letter.AID, letter.Tenant, letter.Projection, ""))
	}
	for _, each := range failing {
		command := commandOf(each)
		commands = append(commands, command)
		text.WriteString(command.text() + next(command.AID, command.Tenant, command.Process, command.EventID))
	}
	fmt.Fprintf(&text, "%d aggregates are parked, %s commands fail\n", len(parked), upTo(len(commands)))
	return c.print(len(parked)+len(commands) == 0, map[string]any{"parked": parked, "commands": commands}, text.String())
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
	found, err := c.find(ctx)
	if err != nil {
		return err
	}
	if found.event != "" {
		shown := commandOf(found.command)
		return c.print(false, shown, shown.text()+
			fmt.Sprintf("  cause     %s\n  executor  %s\n  correlation %s\n", shown.CausationID, shown.Executor, shown.CorrelationID))
	}
	payload := found.letter.Payload
	if len(payload) == 0 {
		if payload, err = c.payloadOf(ctx, found.letter); err != nil {
			return err
		}
	}
	shown := operate.LetterOf(c.cmd.String("projection"), found.letter)
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
	due, err := c.dueLetters(ctx)
	if err != nil {
		return err
	}
	if len(due) == 0 {
		text := fmt.Sprintf("nothing to retry: in %s no aggregate is parked and no command fails\n", c.cmd.String("projection"))
		return c.print(true, map[string]any{"aggregates": []result{}, "parked": 0}, text)
	}
	for _, one := range due {
		if err := one.tryNow(ctx); err != nil {
			return err
		}
	}
	return c.outcome(ctx, due)
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
	found, err := c.find(ctx)
	if err != nil {
		return err
	}
	if err := found.skip(ctx, c.cmd.String("reason"), c.skipper(c.cmd), time.Now()); err != nil {
		return err
	}
	return c.outcome(ctx, []stuck{found})
}
