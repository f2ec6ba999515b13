package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/journalcheck"
)

const aboutCheck = `Compares the head and the snapshots of one aggregate, or of all, with the journal, and the events
with their places. It reports a head that is missing, behind or ahead, missing events, events that can't be read or
belong somewhere else, broken snapshots and a pointer to the wrong one; and for each of them, what to do. It changes
nothing and may run beside everything else. On DynamoDB a check of everything reads both tables about twice.`

const aboutRepair = `Corrects the head from the journal: its version becomes that of the last event, its pointer that
of the latest intact snapshot. Snapshots that can't be used are deleted. Events are never changed. It may run beside
the programs: the head's version protects repair and commands from each other. If events are missing, it does nothing,
because only a backup has them.`

const aboutShow = `Prints the head, the snapshots and the events of an aggregate as they are stored, as JSON, whatever is wrong with them.`

func (o *operator) journal() *cli.Command {
	typeFlag := &cli.StringFlag{Name: "type", Usage: "without an AID: aggregates of this type only"}
	dryRun := &cli.BoolFlag{Name: "dry-run", Usage: "print what would be done, and change nothing"}
	return &cli.Command{
		Name: "journal", Usage: "shows and checks events, heads and snapshots, and repairs heads",
		Commands: []*cli.Command{
			{
				Name: "show", Usage: "prints the head, snapshots and events of an aggregate", ArgsUsage: "AID", Description: aboutShow,
				Flags: []cli.Flag{tenantFlag, jsonFlag}, Action: o.withAggregate(o.show),
			},
			{
				Name: "check", Usage: "reports what is wrong", ArgsUsage: "[AID]", Description: aboutCheck,
				Flags: []cli.Flag{tenantFlag, typeFlag, jsonFlag}, Action: o.check,
			},
			{
				Name: "repair", Usage: "corrects the head from the journal", ArgsUsage: "AID", Description: aboutRepair,
				Flags: []cli.Flag{tenantFlag, dryRun, jsonFlag}, Action: o.withAggregate(o.repair),
			},
		},
	}
}

func (o *operator) check(ctx context.Context, cmd *cli.Command) error {
	id, one, err := optionalAggregateOf(cmd)
	if err != nil {
		return err
	}
	s, closing, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer closing()
	told := o.telling(cmd.Bool(jsonFlag.Name))
	if one {
		found, err := s.checker().Aggregate(ctx, id)
		if err == nil {
			err = told.tell(id, found)
		}
		if err != nil {
			return err
		}
		return told.end()
	}
	err = s.checker().All(ctx, wanted(cmd), told.tell)
	told.progress.clear()
	if err != nil {
		return fmt.Errorf("after %d aggregates: %w", told.checked, err)
	}
	return told.end()
}

// wanted filters aggregates by the flags.
func wanted(cmd *cli.Command) func(eventstore.AggregateID) bool {
	tenant, kind := cmd.String(tenantFlag.Name), cmd.String("type")
	return func(id eventstore.AggregateID) bool {
		return (!cmd.IsSet(tenantFlag.Name) || id.Tenant == tenant) && (kind == "" || id.Type == kind)
	}
}

// telling prints findings as they are found.
type telling struct {
	o        *operator
	progress *progressLine
	list     *list // nil: as text

	checked, wrong, findings int
}

func (o *operator) telling(asJSON bool) *telling {
	t := &telling{o: o, progress: o.progress()}
	if asJSON {
		t.list = beginList(o.stdout, "findings")
	}
	return t
}

func (t *telling) tell(_ eventstore.AggregateID, found []journalcheck.Finding) error {
	t.checked++
	if len(found) > 0 {
		t.wrong++
		t.findings += len(found)
		t.progress.clear()
	}
	for _, finding := range found {
		if t.list != nil {
			if err := t.list.add(finding); err != nil {
				return err
			}
			continue
		}
		if err := t.o.say(finding); err != nil {
			return err
		}
	}
	t.progress.tell("checked %d aggregates, %d findings", t.checked, t.findings)
	return nil
}

// say prints a finding as text.
func (o *operator) say(finding journalcheck.Finding) error {
	_, err := fmt.Fprintf(o.stdout, "%s: %s (%s)\n  expected  %s\n  found     %s\n  next      %s\n",
		whose(finding.Tenant, finding.AID), finding.What, finding.Kind, finding.Expected, finding.Found, finding.Next)
	return err
}

func (t *telling) end() error {
	var err error
	if t.list != nil {
		err = t.list.end("checked", t.checked, "wrong", t.wrong, "ok", t.findings == 0)
	} else if t.findings == 0 {
		_, err = fmt.Fprintf(t.o.stdout, "checked %d aggregates: all is well\n", t.checked)
	} else {
		_, err = fmt.Fprintf(t.o.stdout, "checked %d aggregates: %d findings in %d of them\n", t.checked, t.findings, t.wrong)
	}
	if err == nil && t.findings > 0 {
		return errFound
	}
	return err
}

func (o *operator) repair(ctx context.Context, cmd *cli.Command, s *openStation, id eventstore.AggregateID) error {
	dryRun := cmd.Bool("dry-run")
	repair, err := s.checker().Repair(ctx, id, dryRun)
	if err != nil {
		return err
	}
	if err := o.tellRepair(cmd, id, repair, dryRun); err != nil {
		return err
	}
	if len(repair.Left) > 0 || dryRun && len(repair.Steps) > 0 {
		return errFound
	}
	return nil
}

func (o *operator) tellRepair(cmd *cli.Command, id eventstore.AggregateID, repair journalcheck.Repair, dryRun bool) error {
	if cmd.Bool(jsonFlag.Name) {
		return o.printJSON(struct {
			Tenant string                 `json:"tenant"`
			AID    string                 `json:"aid"`
			DryRun bool                   `json:"dry_run"`
			Steps  []string               `json:"steps"`
			Left   []journalcheck.Finding `json:"left"`
		}{id.Tenant, id.String(), dryRun, append([]string{}, repair.Steps...), append([]journalcheck.Finding{}, repair.Left...)})
	}
	how := "done"
	if dryRun {
		how = "to do"
	}
	for _, step := range repair.Steps {
		fmt.Fprintf(o.stdout, "%s: %s\n", how, step)
	}
	if len(repair.Steps) == 0 {
		fmt.Fprintln(o.stdout, "there is nothing that a repair could do")
	}
	for _, finding := range repair.Left {
		if err := o.say(finding); err != nil {
			return err
		}
	}
	return nil
}
