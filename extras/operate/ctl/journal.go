package ctl

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/journalcheck"
	"example.com/threads/extras/operate"
	"example.com/threads/infrastructure/program"
)

type check struct {
	some
	Type string `help:"without an AID: aggregates of this type only"`
}

func (check) Help() string {
	return `Compares the head and the snapshots of one aggregate, or of all, with the journal, and the events
with their places. It reports a head that is missing, behind or ahead, missing events, events that can't be read or
belong somewhere else, broken snapshots and a pointer to the wrong one; and for each of them, what to do. It changes
nothing and may run beside everything else. On DynamoDB a check of everything reads both tables about twice.`
}

func (cmd *check) Run(ctx context.Context, c *call) error {
	types := []string{""} // all
	for _, kind := range c.Types {
		types = append(types, kind.Type())
	}
	if !slices.Contains(types, cmd.Type) {
		return fmt.Errorf("%w: --type %q is none of %s", program.ErrUsage, cmd.Type, strings.Join(types[1:], ", "))
	}
	checked, wrong, findings := 0, 0, 0
	tell := func(_ es.AggregateID, found []journalcheck.Finding) error {
		checked++
		findings += len(found)
		if len(found) > 0 {
			wrong++
		}
		for _, finding := range found {
			if err := c.add("findings", finding); err != nil {
				return err
			}
		}
		c.tell("checked %d aggregates, %d findings", checked, findings)
		return nil
	}
	have := func(id es.AggregateID) bool { return cmd.have(id) && (cmd.Type == "" || id.Type == cmd.Type) }
	checker := c.checker()
	var err error
	if cmd.AID != nil {
		var found []journalcheck.Finding
		if found, err = checker.Aggregate(ctx, cmd.id); err == nil {
			err = tell(cmd.id, found)
		}
	} else if err = checker.All(ctx, have, tell); err != nil {
		err = fmt.Errorf("after %d aggregates: %w", checked, err)
	}
	if err != nil {
		return err
	}
	return c.end(findings == 0, "findings", map[string]any{"checked": checked, "wrong": wrong, "ok": findings == 0})
}

func (c *call) checker() *journalcheck.Checker {
	checker := journalcheck.New(c.store.Gateway, c.Types...)
	checker.RepairBy = func(id es.AggregateID) string { return commandLine("journal repair", id) }
	return checker
}

type repair struct {
	one
	DryRun bool `help:"print what would be done, and change nothing"`
}

func (repair) Help() string {
	return `Corrects the head from the journal: its version becomes that of the last event, its pointer that
of the latest intact snapshot. Snapshots that can't be used are deleted. Events are never changed. It may run beside
the programs: the head's version protects repair and commands from each other. If events are missing, it does nothing,
because only a backup has them.`
}

func (cmd *repair) Run(ctx context.Context, c *call) error {
	steps, left, err := c.checker().Repair(ctx, cmd.id, cmd.DryRun)
	if err != nil {
		return err
	}
	isWell := len(left) == 0 && (!cmd.DryRun || len(steps) == 0)
	return c.print(isWell, map[string]any{
		"tenant": cmd.id.Tenant, "aid": cmd.id.String(), "dry_run": cmd.DryRun,
		"steps": append([]string{}, steps...), "left": append([]journalcheck.Finding{}, left...),
	})
}

type show struct {
	one
	Command string `placeholder:"ID" help:"print only the events of the command with this ID"`
}

func (show) Help() string {
	return `Prints the head, the snapshots and the events of an aggregate as they are stored, as JSON, whatever is wrong with them.
With --command it prints only the events that a command led to. The id of a command is the commandId in the history of
a thread or an account.`
}

type shown struct {
	operate.Named
	Head      *es.StoredHead `json:"head"` // null: there is none
	Snapshots []es.Snapshot  `json:"snapshots"`
	Events    []shownEvent   `json:"events"`
}

type shownEvent struct {
	SeqNr      uint64          `json:"seq_nr"`
	EventID    string          `json:"event_id,omitempty"`
	OccurredAt time.Time       `json:"occurred_at,omitzero"`
	Payload    json.RawMessage `json:"payload,omitempty"`
	Unreadable string          `json:"unreadable,omitempty"` // the text of a payload that is no JSON
	Sealed     string          `json:"sealed,omitempty"`     // why texts in the payload can't be opened
	Faults     []es.Fault      `json:"faults,omitempty"`
}

// Run prints one JSON object, also without --json.
func (cmd *show) Run(ctx context.Context, c *call) error {
	out := shown{Named: operate.Name(cmd.id), Snapshots: []es.Snapshot{}}
	head, err := c.store.Gateway.StoredHead(ctx, cmd.id)
	if err != nil {
		return err
	}
	if head.Exists {
		out.Head = &head
	}
	for stored, err := range c.store.Gateway.StoredSnapshots(ctx, cmd.id) {
		if err != nil {
			return err
		}
		out.Snapshots = append(out.Snapshots, stored)
	}
	if out.Events, err = cmd.events(ctx, c); err != nil {
		return err
	}
	switch {
	case len(out.Events) == 0 && cmd.Command != "":
		return fmt.Errorf("%s has no event of the command %s", cmd.id, cmd.Command)
	case len(out.Events) == 0 && !head.Exists && len(out.Snapshots) == 0:
		return fmt.Errorf("%s: %w", cmd.id, journalcheck.ErrUnknown)
	}
	c.JSON = true
	return c.print(true, out)
}

// events returns the events to print, in order.
func (cmd *show) events(ctx context.Context, c *call) ([]shownEvent, error) {
	unseal := func(_ context.Context, _ es.Tenant, payload []byte) ([]byte, error) { return payload, nil }
	if c.Unseal != nil {
		var err error
		if unseal, err = c.Unseal(ctx, c.store); err != nil {
			return nil, err
		}
	}
	found := []shownEvent{}
	for stored, err := range c.store.Gateway.StoredEntries(ctx, cmd.id) {
		if err != nil {
			return nil, fmt.Errorf("after %d events: %w", len(found), err)
		}
		if cmd.Command != "" && !ledTo(stored, cmd.Command) {
			continue
		}
		event := shownEvent{SeqNr: stored.SeqNr, EventID: stored.EventID, OccurredAt: stored.OccurredAt, Faults: stored.Faults}
		if !json.Valid(stored.Payload) {
			event.Unreadable = string(stored.Payload)
		} else if event.Payload, err = unseal(ctx, cmd.id.Tenant, stored.Payload); err != nil {
			event.Payload, event.Sealed = stored.Payload, err.Error()
		}
		found = append(found, event)
	}
	slices.SortFunc(found, func(a, b shownEvent) int { return cmp.Compare(a.SeqNr, b.SeqNr) })
	return found, nil
}

// ledTo reports whether a command led to an event. Every event names its command, also without a receipt.
func ledTo(stored es.Entry, command string) bool {
	var event struct {
		CommandID string `json:"command_id"`
	}
	return json.Unmarshal(stored.Payload, &event) == nil && strings.EqualFold(event.CommandID, command)
}

type due struct{ aggregates }

func (d *due) Validate() error { return d.read(nil) }

type take struct{ some }

// dueSnapshot is an aggregate whose snapshot is due, or was written.
type dueSnapshot struct {
	operate.Named
	es.Head
	Error string `json:"error,omitempty"` // why writing failed
}

// each calls do with the head of the aggregate that is named, or of those that are selected, of types that this program
// knows. It ends with the first error.
func (c *call) each(ctx context.Context, of aggregates, do func(es.AnyAggregate, es.StoredAggregate) error) error {
	if of.id != (es.AggregateID{}) {
		kind := slices.IndexFunc(c.Types, func(kind es.AnyAggregate) bool { return kind.Type() == of.id.Type })
		if kind < 0 {
			return fmt.Errorf("%s: this program knows no aggregates of type %q", of.id, of.id.Type)
		}
		head, err := c.store.Gateway.Head(ctx, of.id)
		if err == nil && head.Version == 0 {
			err = unknown(of.id)
		}
		if err != nil {
			return err
		}
		return do(c.Types[kind], es.StoredAggregate{ID: of.id, Head: head})
	}
	for _, kind := range c.Types {
		for head, err := range c.store.Gateway.Heads(ctx, kind.Type()) {
			if err == nil && of.have(head.ID) {
				err = do(kind, head)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func unknown(id es.AggregateID) error {
	return fmt.Errorf("%s: there is no such aggregate, or its head can't be read: check id, tenant and tables; `journal check` says more", id)
}

// snapshots reports the aggregate that is named, or those that are more than SNAPSHOT_EVERY events ahead of their
// snapshot, after do was called for each. It goes on after a failure.
func (c *call) snapshots(ctx context.Context, of aggregates, done string, do func(es.AnyAggregate, *es.StoredAggregate) error) error {
	count, failed := 0, 0
	err := c.each(ctx, of, func(kind es.AnyAggregate, head es.StoredAggregate) error {
		if of.id == (es.AggregateID{}) && head.Version > 0 && head.Version <= head.SnapshotVersion+c.store.SnapshotEvery {
			return nil // none is due
		}
		message, err := "", unknown(head.ID)
		if head.Version > 0 {
			err = do(kind, &head)
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			failed++
			message = err.Error() + "; `journal check` may tell more"
		default:
			count++
		}
		return c.add("snapshots", dueSnapshot{operate.Name(head.ID), head.Head, message})
	})
	if err != nil {
		return err
	}
	return c.end(failed == 0, "snapshots", map[string]any{done: count, "failed": failed})
}

func (cmd *due) Run(ctx context.Context, c *call) error {
	return c.snapshots(ctx, cmd.aggregates, "due", func(es.AnyAggregate, *es.StoredAggregate) error { return nil })
}

func (cmd *take) Run(ctx context.Context, c *call) error {
	return c.snapshots(ctx, cmd.aggregates, "taken", func(kind es.AnyAggregate, head *es.StoredAggregate) error {
		err := kind.TakeSnapshot(ctx, c.store.Gateway, head.ID, es.Settings{Logger: c.log})
		if err == nil {
			head.Head, err = c.store.Gateway.Head(ctx, head.ID)
		}
		return err
	})
}
