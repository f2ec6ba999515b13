package ctl

import (
	"context"
	"fmt"
	"sync"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/extras/operate"
)

type verify struct {
	some
	Repair bool `help:"rebuild the rows of aggregates that differ"`
}

func (verify) Help() string {
	return `Folds the events of one aggregate, or of all, and compares every row of the read model with the
result: each difference is printed with the expected and the found value. It may run beside the programs. With
--repair, the rows of an aggregate that differs are rebuilt from the journal in one transaction. Rows that are only
behind are reported if they do not catch up.`
}

const (
	// behindFor is how long rows may be behind before that is reported.
	behindFor = 2 * time.Second
	// maxBehind limits the aggregates that are verified again.
	maxBehind = 1000
)

// verifier prints differences as they are found.
type verifier struct {
	*call
	*verify
	rows      *rowstore.Store
	projector *projection.Projector

	mu                                    sync.Mutex
	checked, wrong, differences, repaired int
	behind                                []es.AggregateID // aggregates that were behind when verified
}

// Run verifies one aggregate, or all.
func (cmd *verify) Run(ctx context.Context, c *call) error {
	rows, err := rowstore.New(c.db, c.ReadModel.Name)
	if err != nil {
		return err
	}
	// It logs nothing: what it finds is printed.
	projector := projection.New(rows, c.store.Gateway, projection.Options{}, c.ReadModel.Handlers...)
	v := &verifier{call: c, verify: cmd, rows: rows, projector: projector}
	if cmd.AID != nil {
		err = v.one(ctx, cmd.id)
	} else if err = projector.Aggregates(ctx, v.look); err != nil {
		err = fmt.Errorf("after %d aggregates: %w", v.checked, err)
	}
	if err == nil {
		err = v.tellLate(ctx)
	}
	if err != nil {
		return err
	}
	left := v.wrong - v.repaired
	text := fmt.Sprintf("verified %d aggregates: all is well\n", v.checked)
	if v.wrong > 0 {
		text = fmt.Sprintf("verified %d aggregates: %d differences in %d of them, %d repaired\n", v.checked, v.differences, v.wrong, v.repaired)
	}
	return c.end(left == 0, "differences", map[string]any{"verified": v.checked, "wrong": v.wrong, "repaired": v.repaired, "ok": left == 0}, text)
}

// one verifies an aggregate. It fails if neither the journal nor the rows know it.
func (v *verifier) one(ctx context.Context, id es.AggregateID) error {
	head, err := v.store.Gateway.Head(ctx, id)
	if err != nil {
		return err
	}
	versions, err := v.rows.Versions(ctx, []es.AggregateID{id})
	if err != nil {
		return err
	}
	if head.Version == 0 && versions[id] == 0 {
		return fmt.Errorf("%s: neither the journal nor the read model knows this id: check id, tenant and databases", id)
	}
	return v.look(ctx, id)
}

// look verifies an aggregate, and repairs it if requested.
func (v *verifier) look(ctx context.Context, key es.AggregateID) error {
	if !v.have(key) {
		return nil
	}
	found, repaired, err := v.projector.VerifyOrRepair(ctx, key, v.Repair)
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
	for i, d := range found.Differences {
		text := fmt.Sprintf("%s: %s: %s\n  expected  %s\n  found     %s\n", operate.Name(key), d.Row, d.What, d.Expected, d.Found)
		if i == len(found.Differences)-1 {
			if found.More > 0 {
				text += fmt.Sprintf("%s: and %d differences more\n", operate.Name(key), found.More)
			}
			text += fmt.Sprintf("  next      %s\n", next(key, repaired))
		}
		if err := v.add(operate.Difference{Named: operate.Name(key), Difference: d, Repaired: repaired}, text); err != nil {
			return err
		}
	}
	v.line.tell("verified %d aggregates, %d differences", v.checked, v.differences)
	return nil
}

func next(key es.AggregateID, repaired bool) string {
	if repaired {
		return "nothing: its rows were rebuilt from the journal"
	}
	return commandLine("rows verify --repair", key) + " rebuilds its rows, once " + commandLine("journal check", key) + " finds nothing wrong"
}

// tellLate prints the aggregates that were behind and have not moved since. A repair brings them up to date.
func (v *verifier) tellLate(ctx context.Context) error {
	if len(v.behind) == 0 {
		return nil
	}
	before, err := v.rows.Versions(ctx, v.behind)
	if err != nil {
		return err
	}
	if err := es.Wait(ctx, behindFor); err != nil {
		return err
	}
	if v.Repair {
		if _, err := v.projector.Fill(ctx, v.behind...); err != nil {
			return err
		}
	}
	now, err := v.rows.Versions(ctx, v.behind)
	if err != nil {
		return err
	}
	for _, key := range v.behind {
		if now[key] > before[key] {
			continue
		}
		again, err := v.projector.Verify(ctx, key)
		if err != nil {
			return err
		}
		if !again.Behind {
			continue
		}
		if err := v.tell(key, projection.Verified{Differences: []projection.Difference{{
			Key: key, Row: "all rows", What: "they are behind the journal and do not catch up",
			Expected: "all events of the journal", Found: "fewer: is the read-model-updater running, and is this aggregate in `dead-letters list`?",
		}}}, false); err != nil {
			return err
		}
	}
	return nil
}
