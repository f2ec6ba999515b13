package sqlstore

import (
	"context"

	"example.com/threads/es"
	"example.com/threads/es/internal/sqldialect"
)

// Draw updates the sequence's row. A retry after a lost answer draws again, which leaves a gap.
func (g *Gateway) Draw(ctx context.Context, tenant es.Tenant, sequence string, count uint64) (uint64, error) {
	if err := es.CheckDraw(sequence, count); err != nil {
		return 0, err
	}
	change := &drawing{gateway: g, tenant: tenant, sequence: sequence, count: count}
	if err := g.writer.write(ctx, change); err != nil {
		return 0, g.explain(ctx, err, "draw from the sequence %s", sequence)
	}
	return change.last - count + 1, nil
}

// drawing is the change of Draw.
type drawing struct {
	upkeep
	gateway  *Gateway
	tenant   es.Tenant
	sequence string
	count    uint64
	last     uint64 // the result
}

// apply updates the row, whose lock keeps others out until the transaction ends, or inserts the first row. The loser of
// a race to insert finds the winner's row.
func (d *drawing) apply(ctx context.Context, in session) error {
	const update = "UPDATE sequences SET drawn = drawn + ? WHERE tenant_code = ? AND name = ?"
	updated, err := changed(ctx, in, update, d.count, d.tenant, d.sequence)
	if err == nil && updated == 0 {
		_, err = in.ExecContext(ctx, d.gateway.dialect.Insert("sequences", []string{"tenant_code", "name", "drawn"}, 1), d.tenant, d.sequence, d.count)
		if sqldialect.ClassOf(err) == sqldialect.Duplicate {
			_, err = in.ExecContext(ctx, update, d.count, d.tenant, d.sequence)
		}
	}
	if err != nil {
		return err
	}
	return in.GetContext(ctx, &d.last, "SELECT drawn FROM sequences WHERE tenant_code = ? AND name = ?", d.tenant, d.sequence)
}
