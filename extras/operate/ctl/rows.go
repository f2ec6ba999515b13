package ctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/extras/operate"
)

// verify prints differences as they are found.
type verify struct {
	some
	Repair bool `help:"rebuild the rows of aggregates that differ"`

	c         *call
	rows      *rowstore.Store
	projector *projection.Projector

	checked, wrong, repaired, more int
	behind                         []es.AggregateID // aggregates that were behind when verified
	unchecked                      int              // more of these
}

func (verify) Help() string {
	return `Folds the events of one aggregate, or of all, and compares every row of the read model with the
result: each difference is printed with the expected and the found value. It may run beside the programs. With
--repair, the rows of an aggregate that differs are made anew from the journal in one transaction. Rows that are only
behind are reported if they do not catch up: the first 1,000 are looked at again, and "unchecked" counts the others.`
}

const (
	behindFor = 2 * time.Second // before rows that are behind are reported
	maxBehind = 1000            // aggregates that are verified again
)

func (v *verify) Run(ctx context.Context, c *call) (err error) {
	if v.rows, err = rowstore.New(c.db, c.ReadModel.Name); err != nil {
		return err
	}
	tenant := v.id.Tenant
	if v.Tenant != nil {
		tenant = es.Tenant(*v.Tenant)
	}
	if here := c.ReadModel.Tenants; here != nil && (v.AID != nil || v.Tenant != nil) && !here(tenant) {
		return fmt.Errorf("the rows of the tenant %q are in another database: set DATABASE_URL to that of TENANT_DATABASES", tenant)
	}
	// It logs nothing: what it finds is printed.
	v.c, v.projector = c, projection.New(v.rows, c.store.Gateway, projection.Options{Tenants: c.ReadModel.Tenants}, c.ReadModel.Handlers...)
	if v.AID != nil {
		err = v.one(ctx)
	} else if err = v.projector.VerifyAll(ctx, v.have, v.Repair, v.count); err != nil {
		err = fmt.Errorf("after %d aggregates: %w", v.checked, err)
	}
	if err == nil {
		err = v.tellLate(ctx)
	}
	if err != nil {
		return err
	}
	ok := v.wrong == v.repaired && v.unchecked == 0
	return c.end(ok, "differences", map[string]any{
		"verified": v.checked, "wrong": v.wrong, "repaired": v.repaired, "more": v.more, "unchecked": v.unchecked, "ok": ok,
	})
}

// one verifies an aggregate. It fails if neither the journal nor the rows know it.
func (v *verify) one(ctx context.Context) error {
	head, err := v.c.store.Gateway.Head(ctx, v.id)
	versions, failed := v.rows.Versions(ctx, []es.AggregateID{v.id})
	if err = cmp.Or(err, failed); err == nil && head.Version == 0 && versions[v.id] == 0 {
		err = fmt.Errorf("%s: neither the journal nor the read model knows this id: check id, tenant and databases", v.id)
	}
	if err != nil {
		return err
	}
	found, err := v.projector.VerifyOrRepair(ctx, v.id, v.Repair)
	if err != nil {
		return err
	}
	return v.count(v.id, found)
}

// count counts and prints the result for an aggregate.
func (v *verify) count(key es.AggregateID, found projection.Verified) error {
	v.checked++
	if found.Repaired {
		v.repaired++
	}
	switch {
	case found.Behind && len(v.behind) == maxBehind:
		v.unchecked++
	case found.Behind:
		v.behind = append(v.behind, key)
	}
	return v.tell(key, found)
}

func (v *verify) tell(key es.AggregateID, found projection.Verified) error {
	if len(found.Differences) > 0 {
		v.wrong++
		v.more += found.More
	}
	next := commandLine("rows verify --repair", key) + " makes its rows anew, once " + commandLine("journal check", key) + " finds nothing wrong"
	if found.Repaired {
		next = "nothing: its rows were made anew from the journal"
	}
	for _, d := range found.Differences {
		if err := v.c.add("differences", operate.Difference{Named: operate.Name(key), Difference: d, Repaired: found.Repaired, Next: next}); err != nil {
			return err
		}
	}
	v.c.tell("verified %d aggregates, of which %d differ", v.checked, v.wrong)
	return nil
}

// tellLate prints the aggregates that were behind and have not moved since. A repair brings them up to date.
func (v *verify) tellLate(ctx context.Context) error {
	if len(v.behind) == 0 {
		return nil
	}
	before, err := v.rows.Versions(ctx, v.behind)
	if err == nil {
		err = es.Wait(ctx, behindFor)
	}
	if err == nil && v.Repair {
		_, err = v.projector.Fill(ctx, v.behind...)
	}
	now, failed := v.rows.Versions(ctx, v.behind)
	if err := cmp.Or(err, failed); err != nil {
		return err
	}
	late := projection.Verified{Differences: []projection.Difference{{
		Row: "all rows", What: "they are behind the journal and do not catch up", Expected: "all events of the journal",
		Found: "fewer: is the read-model-updater running, and is this aggregate in `dead-letters list`?",
	}}}
	for _, key := range v.behind {
		if now[key] > before[key] {
			continue
		}
		again, err := v.projector.Verify(ctx, key)
		if err == nil && again.Behind {
			err = v.tell(key, late)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type rebuild struct {
	Resume    bool   `xor:"what" help:"continue an interrupted rebuild"`
	Cancel    bool   `xor:"what,from" help:"end a running or interrupted rebuild, and drop its rows"`
	DropOld   bool   `xor:"what,from" help:"drop the rows that were live before the last rebuild"`
	Export    string `xor:"what,from" type:"existingdir" help:"read a full export to S3, in this folder"` // extra:archive
	FromEmpty bool   `xor:"from" help:"replace the rows by none if the event store is empty, and not only lost or the wrong one; also with --resume"`
}

func (rebuild) Help() string {
	return `Builds all rows of the read model from the journal in new tables beside the live ones. It
catches up with the live rows, compares the rows of 100 aggregates (or 5,000 events) with the journal, and switches to
them in one step; rows verify compares all. Queries, subscriptions and the updater continue meanwhile; process managers
do not react to these events. The previous rows stay in tables whose names end with _old until the next rebuild, or
--drop-old.`
}

func (cmd *rebuild) Run(ctx context.Context, c *call) error {
	rebuild, err := c.ReadModel.Rebuild(c.db, c.store.Gateway, 0, c.log)
	if err == nil && cmd.Export != "" { // extra:archive {
		rebuild.Journal, err = c.exported(cmd.Export)
	} // extra:archive }
	if err != nil {
		return err
	}
	rebuild.FromEmpty = cmd.FromEmpty
	rebuild.Observe = func(state rowstore.RebuildState) {
		c.tell("%s: %d of %d events", state.Phase, state.Done, state.Total)
	}
	failed := "the rebuild failed, and the live rows are unchanged unless the error says otherwise; continue with `rows rebuild --resume`"
	do := rebuild.Start
	switch {
	case cmd.DropOld:
		do, failed = rebuild.DropOld, "the rows from before the last rebuild could not be dropped"
	case cmd.Cancel:
		do = rebuild.Cancel
	case cmd.Resume:
		do = rebuild.Resume
	}
	if err := do(ctx); err != nil {
		for known, advice := range rebuildAdvice {
			if errors.Is(err, known) {
				return fmt.Errorf("%w%s", err, advice)
			}
		}
		return fmt.Errorf("%s: %w", failed, err)
	}
	if cmd.DropOld {
		return c.print(true, map[string]any{"dropped": true})
	}
	state, err := rebuild.Store.RebuildState(ctx)
	if err != nil {
		return err
	}
	outcome := "the new rows are live: `rows verify` compares all of them with the journal, --drop-old drops the former ones"
	if state.Cancelled && !state.Live {
		outcome = "the rebuild ends and its rows are dropped: the live rows are unchanged"
	}
	return c.print(true, map[string]any{
		"phase": state.Phase, "events": state.Done, "seconds": state.UpdatedAt.Sub(state.StartedAt).Seconds(), "outcome": outcome,
	})
}

// rebuildAdvice says what to do about an error.
var rebuildAdvice = map[error]string{
	rowstore.ErrUnfinished:   ": continue with --resume, or end it with --cancel",
	rowstore.ErrRebuilding:   ", in another process: wait for its end, see /health/ready of the updater, or end it with --cancel",
	rowstore.ErrNothingBegun: ": `rows rebuild` begins one",
	rowstore.ErrEmptyJournal: "; only if all events are gone for good, `rows rebuild --from-empty` replaces the rows by none",
	rowstore.ErrCancelled:    "",
}
