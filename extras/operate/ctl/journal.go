package ctl

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"example.com/threads/es"
	"example.com/threads/es/journalcheck"
)

const aboutCheck = `Compares the head and the snapshots of one aggregate, or of all, with the journal, and the events
with their places. It reports a head that is missing, behind or ahead, missing events, events that can't be read or
belong somewhere else, broken snapshots and a pointer to the wrong one; and for each of them, what to do. It changes
nothing and may run beside everything else. On DynamoDB a check of everything reads both tables about twice.`

const aboutRepair = `Corrects the head from the journal: its version becomes that of the last event, its pointer that
of the latest intact snapshot. Snapshots that can't be used are deleted. Events are never changed. It may run beside
the programs: the head's version protects repair and commands from each other. If events are missing, it does nothing,
because only a backup has them.`

const aboutShow = `Prints the head, the snapshots and the events of an aggregate as they are stored, as JSON, whatever is wrong with them.
With --command it prints only the events that a command led to. The id of a command is the commandId in the history of
a thread or an account.`

func (o *operator) journal() *cli.Command {
	return o.group("journal", "shows and checks events, heads and snapshots, and repairs heads",
		o.command(eventStore, nil, (*call).show, &cli.Command{
			Name: "show", Usage: "prints the head, snapshots and events of an aggregate", ArgsUsage: "AID", Description: aboutShow,
			Flags: []cli.Flag{tenantFlag, &cli.StringFlag{Name: "command", Usage: "print only the events of the command with this `ID`"}},
		}),
		o.command(eventStore, nil, (*call).check, &cli.Command{
			Name: "check", Usage: "reports what is wrong", ArgsUsage: "[AID]", Description: aboutCheck,
			Flags: []cli.Flag{tenantFlag, &cli.StringFlag{Name: "type", Usage: "without an AID: aggregates of this type only"}},
		}),
		o.command(eventStore, nil, (*call).repair, &cli.Command{
			Name: "repair", Usage: "corrects the head from the journal", ArgsUsage: "AID", Description: aboutRepair,
			Flags: []cli.Flag{tenantFlag, dryRunFlag},
		}))
}

func (c *call) checker() *journalcheck.Checker { return journalcheck.New(c.store.Gateway, c.Types...) }

func (c *call) check(ctx context.Context) error {
	checked, wrong, findings := 0, 0, 0
	tell := func(id es.AggregateID, found []journalcheck.Finding) error {
		checked++
		findings += len(found)
		if len(found) > 0 {
			wrong++
		}
		for _, finding := range found {
			if err := c.add(finding, textOf(id, finding)); err != nil {
				return err
			}
		}
		c.line.tell("checked %d aggregates, %d findings", checked, findings)
		return nil
	}
	var err error
	if c.id != (es.AggregateID{}) {
		var found []journalcheck.Finding
		if found, err = c.checker().Aggregate(ctx, c.id); err == nil {
			err = tell(c.id, found)
		}
	} else if err = c.checker().All(ctx, c.wanted, tell); err != nil {
		err = fmt.Errorf("after %d aggregates: %w", checked, err)
	}
	c.line.clear()
	if err != nil {
		return err
	}
	text := fmt.Sprintf("checked %d aggregates: all is well\n", checked)
	if findings > 0 {
		text = fmt.Sprintf("checked %d aggregates: %d findings in %d of them\n", checked, findings, wrong)
	}
	return c.end(findings == 0, "findings", map[string]any{"checked": checked, "wrong": wrong, "ok": findings == 0}, text)
}

// textOf returns a finding as text.
func textOf(id es.AggregateID, finding journalcheck.Finding) string {
	return fmt.Sprintf("%s: %s (%s)\n  expected  %s\n  found     %s\n  next      %s\n",
		whose(id), finding.What, finding.Kind, finding.Expected, finding.Found, finding.Next)
}

func (c *call) repair(ctx context.Context) error {
	dryRun, how := c.cmd.Bool(dryRunFlag.Name), "done"
	steps, left, err := c.checker().Repair(ctx, c.id, dryRun)
	if err != nil {
		return err
	}
	if dryRun {
		how = "to do"
	}
	var text strings.Builder
	for _, step := range steps {
		fmt.Fprintf(&text, "%s: %s\n", how, step)
	}
	if len(steps) == 0 {
		text.WriteString("there is nothing that a repair could do\n")
	}
	for _, finding := range left {
		text.WriteString(textOf(c.id, finding))
	}
	isWell := len(left) == 0 && (!dryRun || len(steps) == 0)
	return c.print(isWell, map[string]any{
		"tenant": c.id.Tenant, "aid": c.id.String(), "dry_run": dryRun,
		"steps": append([]string{}, steps...), "left": append([]journalcheck.Finding{}, left...),
	}, text.String())
}

// shown is an aggregate as it is stored.
type shown struct {
	Tenant    es.Tenant       `json:"tenant"`
	AID       string          `json:"aid"`
	Head      *shownHead      `json:"head"` // null: there is none
	Snapshots []shownSnapshot `json:"snapshots"`
	Events    []shownEvent    `json:"events"`
}

type shownHead struct {
	Version         uint64     `json:"version"`
	SnapshotVersion uint64     `json:"snapshot_version"`
	Faults          []es.Fault `json:"faults,omitempty"`
}

type shownSnapshot struct {
	Version uint64 `json:"version"`
	Broken  string `json:"broken,omitempty"`
}

// shownEvent is an entry for people. Of a payload that is no JSON, Unreadable has the text.
type shownEvent struct {
	SeqNr      uint64          `json:"seq_nr"`
	EventID    string          `json:"event_id,omitempty"`
	OccurredAt string          `json:"occurred_at,omitempty"`
	Payload    json.RawMessage `json:"payload,omitempty"`
	Unreadable string          `json:"unreadable,omitempty"`
	Sealed     string          `json:"sealed,omitempty"` // why texts in the payload can't be opened
	Faults     []es.Fault      `json:"faults,omitempty"`
}

func eventOf(stored es.Entry) shownEvent {
	event := shownEvent{SeqNr: stored.SeqNr, EventID: stored.EventID, Faults: stored.Faults}
	if !stored.OccurredAt.IsZero() {
		event.OccurredAt = stored.OccurredAt.Format(time.RFC3339Nano)
	}
	if json.Valid(stored.Payload) {
		event.Payload = stored.Payload
	} else {
		event.Unreadable = string(stored.Payload)
	}
	return event
}

// show prints one JSON object, also without --json.
func (c *call) show(ctx context.Context) error {
	out := shown{Tenant: c.id.Tenant, AID: c.id.String(), Snapshots: []shownSnapshot{}, Events: []shownEvent{}}
	head, err := c.store.Gateway.StoredHead(ctx, c.id)
	if err != nil {
		return err
	}
	if head.Exists {
		out.Head = &shownHead{head.Version, head.SnapshotVersion, head.Faults}
	}
	for stored, err := range c.store.Gateway.StoredSnapshots(ctx, c.id) {
		if err != nil {
			return err
		}
		out.Snapshots = append(out.Snapshots, shownSnapshot{stored.Version, stored.Broken})
	}
	unseal := func(_ context.Context, _ es.Tenant, payload []byte) ([]byte, error) { return payload, nil }
	if c.Unseal != nil {
		if unseal, err = c.Unseal(ctx, c.store); err != nil {
			return err
		}
	}
	command := c.cmd.String("command")
	for stored, err := range c.store.Gateway.StoredEntries(ctx, c.id) {
		if err != nil {
			return fmt.Errorf("after %d events: %w", len(out.Events), err)
		}
		if command != "" && !ledTo(stored, command) {
			continue
		}
		event := eventOf(stored)
		if opened, err := unseal(ctx, c.id.Tenant, event.Payload); err == nil {
			event.Payload = opened
		} else {
			event.Sealed = err.Error()
		}
		out.Events = append(out.Events, event)
	}
	switch {
	case len(out.Events) == 0 && command != "":
		return fmt.Errorf("%s has no event of the command %s", c.id, command)
	case len(out.Events) == 0 && !head.Exists && len(out.Snapshots) == 0:
		return fmt.Errorf("%s: %w", c.id, journalcheck.ErrUnknown)
	}
	slices.SortFunc(out.Events, func(a, b shownEvent) int { return cmp.Compare(a.SeqNr, b.SeqNr) })
	return c.print(true, out, indent("", out)+"\n")
}

// ledTo reports whether a command led to an event. Every event names its command, also without a receipt.
func ledTo(stored es.Entry, command string) bool {
	var event struct {
		CommandID string `json:"command_id"`
	}
	return json.Unmarshal(stored.Payload, &event) == nil && strings.EqualFold(event.CommandID, command)
}
