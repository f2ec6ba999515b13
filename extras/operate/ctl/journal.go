package ctl

import (
	"context"
	"fmt"
	"strings"

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

var commandFlag = &cli.StringFlag{Name: "command", Usage: "print only the events of the command with this `ID`"}

func (o *operator) journal() *cli.Command {
	typeFlag := &cli.StringFlag{Name: "type", Usage: "without an AID: aggregates of this type only"}
	dryRun := &cli.BoolFlag{Name: "dry-run", Usage: "print what would be done, and change nothing"}
	return &cli.Command{
		Name: "journal", Usage: "shows and checks events, heads and snapshots, and repairs heads",
		Commands: []*cli.Command{
			{
				Name: "show", Usage: "prints the head, snapshots and events of an aggregate", ArgsUsage: "AID", Description: aboutShow,
				Flags: []cli.Flag{tenantFlag, jsonFlag, commandFlag}, Before: oneAggregate, Action: o.withStore(o.show),
			},
			{
				Name: "check", Usage: "reports what is wrong", ArgsUsage: "[AID]", Description: aboutCheck,
				Flags: []cli.Flag{tenantFlag, typeFlag, jsonFlag}, Before: maybeAggregate, Action: o.withStore(o.check),
			},
			{
				Name: "repair", Usage: "corrects the head from the journal", ArgsUsage: "AID", Description: aboutRepair,
				Flags: []cli.Flag{tenantFlag, dryRun, jsonFlag}, Before: oneAggregate, Action: o.withStore(o.repair),
			},
		},
	}
}

func (o *operator) check(ctx context.Context, cmd *cli.Command, s *storeStation) error {
	told := o.report(cmd, "findings")
	checked, wrong, findings := 0, 0, 0
	tell := func(_ es.AggregateID, found []journalcheck.Finding) error {
		checked++
		findings += len(found)
		if len(found) > 0 {
			wrong++
		}
		for _, finding := range found {
			if err := told.add(finding, textOf(finding)); err != nil {
				return err
			}
		}
		told.progress.tell("checked %d aggregates, %d findings", checked, findings)
		return nil
	}
	if cmd.NArg() > 0 {
		id, err := aggregateOf(cmd)
		if err != nil {
			return err
		}
		found, err := s.checker().Aggregate(ctx, id)
		if err != nil {
			return err
		}
		if err := tell(id, found); err != nil {
			return err
		}
	} else if err := s.checker().All(ctx, wanted(cmd), tell); err != nil {
		told.progress.clear()
		return fmt.Errorf("after %d aggregates: %w", checked, err)
	}
	told.progress.clear()
	text := fmt.Sprintf("checked %d aggregates: all is well\n", checked)
	if findings > 0 {
		text = fmt.Sprintf("checked %d aggregates: %d findings in %d of them\n", checked, findings, wrong)
	}
	return told.end(findings == 0, text, "checked", checked, "wrong", wrong, "ok", findings == 0)
}

// wanted filters aggregates by the flags.
func wanted(cmd *cli.Command) func(es.AggregateID) bool {
	tenant, kind := cmd.String(tenantFlag.Name), cmd.String("type")
	return func(id es.AggregateID) bool {
		return (!cmd.IsSet(tenantFlag.Name) || id.Tenant.String() == tenant) && (kind == "" || id.Type == kind)
	}
}

// textOf returns a finding as text.
func textOf(finding journalcheck.Finding) string {
	return fmt.Sprintf("%s: %s (%s)\n  expected  %s\n  found     %s\n  next      %s\n",
		whose(finding.Tenant, finding.AID), finding.What, finding.Kind, finding.Expected, finding.Found, finding.Next)
}

// repairOutcome is what a repair has done.
type repairOutcome struct {
	Tenant string                 `json:"tenant"`
	AID    string                 `json:"aid"`
	DryRun bool                   `json:"dry_run"`
	Steps  []string               `json:"steps"`
	Left   []journalcheck.Finding `json:"left"`
}

func (r repairOutcome) text() string {
	how := "done"
	if r.DryRun {
		how = "to do"
	}
	var text strings.Builder
	for _, step := range r.Steps {
		fmt.Fprintf(&text, "%s: %s\n", how, step)
	}
	if len(r.Steps) == 0 {
		text.WriteString("there is nothing that a repair could do\n")
	}
	for _, finding := range r.Left {
		text.WriteString(textOf(finding))
	}
	return text.String()
}

func (o *operator) repair(ctx context.Context, cmd *cli.Command, s *storeStation) error {
	id, err := aggregateOf(cmd)
	if err != nil {
		return err
	}
	dryRun := cmd.Bool("dry-run")
	repair, err := s.checker().Repair(ctx, id, dryRun)
	if err != nil {
		return err
	}
	done := repairOutcome{id.Tenant.String(), id.String(), dryRun, append([]string{}, repair.Steps...), append([]journalcheck.Finding{}, repair.Left...)}
	if err := o.print(cmd, done, done.text()); err != nil {
		return err
	}
	if len(repair.Left) > 0 || dryRun && len(repair.Steps) > 0 {
		return errFound
	}
	return nil
}
