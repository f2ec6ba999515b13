package sqlstore

import (
	"context"
	"time"

	"example.com/threads/interfaceadaptor/eventstore"
)

var _ eventstore.ReceiptPruner = (*Gateway)(nil)

const prunePage = 500

// PruneReceipts implements [eventstore.ReceiptPruner].
func (g *Gateway) PruneReceipts(ctx context.Context, expiredBefore time.Time, dryRun bool) (pruned int, err error) {
	var last receiptKey
	for {
		var page []receiptKey
		err := g.db.SelectContext(ctx, &page, "SELECT tenant_code, command_id FROM receipts WHERE expires_at < ? AND "+
			"(tenant_code > ? OR (tenant_code = ? AND command_id > ?)) ORDER BY tenant_code, command_id LIMIT ?",
			expiredBefore.UnixMicro(), last.Tenant, last.Tenant, last.CommandID, prunePage)
		if err == nil && len(page) > 0 && !dryRun {
			err = g.writer.write(ctx, pruning{receipts: page, before: expiredBefore})
		}
		if err != nil || len(page) == 0 {
			return pruned, explain(ctx, g.dialect, err, "prune receipts")
		}
		pruned += len(page)
		last = page[len(page)-1]
	}
}

type receiptKey struct {
	Tenant    string `db:"tenant_code"`
	CommandID string `db:"command_id"`
}

// pruning is the change that PruneReceipts makes page by page. A receipt that was renewed in the meantime is kept.
type pruning struct {
	upkeep
	receipts []receiptKey
	before   time.Time
}

func (p pruning) apply(ctx context.Context, in session) error {
	for _, key := range p.receipts {
		_, err := in.ExecContext(ctx, "DELETE FROM receipts WHERE tenant_code = ? AND command_id = ? AND expires_at < ?",
			key.Tenant, key.CommandID, p.before.UnixMicro())
		if err != nil {
			return err
		}
	}
	return nil
}
