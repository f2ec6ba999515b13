package ctl

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/urfave/cli/v3"

	"example.com/threads/es"
	"example.com/threads/es/journalcheck"
	"example.com/threads/es/projection"
	"example.com/threads/extras/operate"
)

const aboutVerify = `Folds the events of one aggregate, or of all, and compares every row of the read model with the
result: each difference is printed with the expected and the found value. It may run beside the programs. With
--repair, the rows of an aggregate that differs are rebuilt from the journal in one transaction. Rows that are only
behind are reported if they do not catch up.`

// behindFor is how long rows may be behind before that is reported.
const behindFor = 2 * time.Second

func (o *operator) rows() *cli.Command {
	repair := &cli.BoolFlag{Name: "repair", Usage: "rebuild the rows of aggregates that differ"}
	return &cli.Command{
		Name: "rows", Usage: "compares the read model with the journal, and repairs or rebuilds it",
		Commands: []*cli.Command{{
			Name: "verify", Usage: "reports how rows differ from the journal", ArgsUsage: "[AID]", Description: aboutVerify,
			Flags: []cli.Flag{tenantFlag, repair, jsonFlag}, Before: maybeAggregate, Action: o.withRows(o.verify),
		}, o.rebuildCommand()},
	}
}

func (o *operator) verify(ctx context.Context, cmd *cli.Command, s *rowStation) error {
	v := &verifier{report: o.report(cmd, "differences"), s: s, repair: cmd.Bool("repair"), begun: time.Now()}
	if cmd.NArg() > 0 {
		id, err := aggregateOf(cmd)
		if err != nil {
			return err
		}
		err = v.known(ctx, id)
		if err == nil {
			err = v.look(ctx, id)
		}
		if err != nil {
			return err
		}
		return v.conclude(ctx)
	}
	err := s.projector.Aggregates(ctx, func(ctx context.Context, key es.AggregateID) error {
		if cmd.IsSet(tenantFlag.Name) && key.Tenant.String() != cmd.String(tenantFlag.Name) {
			return nil
		}
		return v.look(ctx, key)
	})
	v.progress.clear()
	if err != nil {
		return fmt.Errorf("after %d aggregates: %w", v.checked, err)
	}
	return v.conclude(ctx)
}

// verifier prints differences as they are found.
type verifier struct {
	*report
	s      *rowStation
	repair bool
	begun  time.Time

	mu                                    sync.Mutex
	checked, wrong, differences, repaired int
	behind                                []es.AggregateID // aggregates that were behind when verified
}

// maxBehind limits the aggregates that are verified again.
const maxBehind = 1000

// known fails if neither the journal nor the rows know the aggregate.
func (v *verifier) known(ctx context.Context, id es.AggregateID) error {
	head, err := v.s.store.Gateway.Head(ctx, id)
	if err != nil {
		return err
	}
	versions, err := v.s.rows.Versions(ctx, []es.AggregateID{id})
	if err == nil && head.Version == 0 && versions[id] == 0 {
		err = fmt.Errorf("%s: neither the journal nor the read model knows this id: check id, tenant and databases", id)
	}
	return err
}

// look verifies an aggregate, and repairs it if requested.
func (v *verifier) look(ctx context.Context, key es.AggregateID) error {
	found, repaired, err := v.s.projector.VerifyOrRepair(ctx, key, v.repair)
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.checked++
	if repaired {
		v.repaired++
	}
	if found.Behind && len(v.behind) < maxBehind {
		v.behind = append(v.behind, key)
	}
	return v.tell(key, found, repaired)
}

func (v *verifier) tell(key es.AggregateID, found projection.Verified, repaired bool) error {
	if len(found.Differences) > 0 {
		v.wrong++
		v.differences += len(found.Differences) + found.More
	}
	tenant, aid := key.Tenant.String(), key.String()
	for i, d := range found.Differences {
		text := fmt.Sprintf("%s: %s: %s\n  expected  %s\n  found     %s\n", whose(tenant, aid), d.Row, d.What, d.Expected, d.Found)
		if i == len(found.Differences)-1 {
			if found.More > 0 {
				text += fmt.Sprintf("%s: and %d differences more\n", whose(tenant, aid), found.More)
			}
			text += fmt.Sprintf("  next      %s\n", v.next(key, found, repaired))
		}
		if err := v.add(operate.DifferenceOf(key, d, repaired), text); err != nil {
			return err
		}
	}
	v.progress.tell("verified %d aggregates, %d differences", v.checked, v.differences)
	return nil
}

func (v *verifier) next(key es.AggregateID, found projection.Verified, repaired bool) string {
	command := func(words string) string { return journalcheck.Command(words, key) }
	switch {
	case repaired:
		return "nothing: its rows were rebuilt from the journal"
	case found.Contradicted:
		return command("journal check") + " tells how to repair the event store; verify the rows after that"
	case v.repair:
		return "see the error of the repair; " + command("journal check") + " may show more"
	default:
		return command("rows verify --repair") + " rebuilds its rows from the journal"
	}
}

// conclude verifies again the aggregates that were behind, and prints the totals.
func (v *verifier) conclude(ctx context.Context) error {
	late, err := v.late(ctx)
	if err != nil {
		return err
	}
	for _, key := range late {
		if err := v.tell(key, projection.Verified{Differences: []projection.Difference{{
			Key: key, Row: "all rows", What: "they are behind the journal and do not catch up",
			Expected: "all events of the journal", Found: "fewer: is the read-model-updater running, and is this aggregate in `dead-letters list`?",
		}}}, false); err != nil {
			return err
		}
	}
	left := v.wrong - v.repaired
	text := fmt.Sprintf("verified %d aggregates: all is well\n", v.checked)
	if v.wrong > 0 {
		text = fmt.Sprintf("verified %d aggregates: %d differences in %d of them, %d repaired\n", v.checked, v.differences, v.wrong, v.repaired)
	}
	return v.end(left == 0, text, "verified", v.checked, "wrong", v.wrong, "repaired", v.repaired, "ok", left == 0)
}

// late returns the aggregates that stay behind. A repair brings them up to date.
func (v *verifier) late(ctx context.Context) (late []es.AggregateID, err error) {
	if len(v.behind) == 0 {
		return nil, nil
	}
	if err := es.Wait(ctx, time.Until(v.begun.Add(behindFor))); err != nil {
		return nil, err
	}
	before, err := v.s.rows.Versions(ctx, v.behind)
	if err != nil {
		return nil, err
	}
	for _, key := range v.behind {
		if v.repair {
			if err := v.s.projector.Fill(ctx, key); err != nil {
				return nil, err
			}
		}
		head, err := v.s.store.Gateway.Head(ctx, key)
		if err != nil {
			return nil, err
		}
		now, err := v.s.rows.Versions(ctx, []es.AggregateID{key})
		if err != nil {
			return nil, err
		}
		if now[key] < head.Version && now[key] == before[key] {
			late = append(late, key)
		}
	}
	return late, nil
}
