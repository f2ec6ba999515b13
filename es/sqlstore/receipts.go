package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"example.com/threads/es"
)

var receiptColumns = []string{"tenant_code", "command_id", "fingerprint", "answer", "expires_at"}

type receiptRow struct {
	CommandID   string `db:"command_id"`
	Fingerprint string `db:"fingerprint"`
	Answer      []byte `db:"answer"`
	ExpiresAt   int64  `db:"expires_at"`
}

func (r receiptRow) receipt() es.Receipt {
	return es.Receipt{
		CommandID: r.CommandID, Fingerprint: r.Fingerprint, Answer: r.Answer, ExpiresAt: time.UnixMicro(r.ExpiresAt).UTC(),
	}
}

// Receipt reads consistently. A receipt is kept as long as its event, for ever, and so never counts as expired.
func (g *Gateway) Receipt(ctx context.Context, tenant es.Tenant, commandID string) (es.Receipt, bool, error) {
	row, found, err := readReceipt(ctx, g.db, tenant, commandID)
	if err != nil {
		return es.Receipt{}, false, g.explain(ctx, err, "read the receipt of command %s", commandID)
	}
	if !found {
		return es.Receipt{}, false, nil
	}
	return row.receipt(), true, nil
}

func readReceipt(ctx context.Context, in session, tenant es.Tenant, commandID string) (row receiptRow, found bool, err error) {
	err = in.GetContext(ctx, &row,
		"SELECT command_id, fingerprint, answer, expires_at FROM receipts WHERE tenant_code = ? AND command_id = ?", tenant, commandID)
	if errors.Is(err, sql.ErrNoRows) {
		return row, false, nil
	}
	return row, err == nil, err
}

// addReceipts inserts all receipts in one statement.
func (a appending) addReceipts(ctx context.Context, in session) error {
	receipts := a.write.Receipts
	if len(receipts) == 0 {
		return nil
	}
	var args []any
	for _, receipt := range receipts {
		args = append(args, a.receiptValues(receipt)...)
	}
	_, err := in.ExecContext(ctx, a.gateway.dialect.Insert("receipts", receiptColumns, len(receipts)), args...)
	return err
}

func (a appending) receiptValues(receipt es.Receipt) []any {
	return []any{a.write.ID.Tenant, receipt.CommandID, receipt.Fingerprint, answerOf(receipt), receipt.ExpiresAt.UnixMicro()}
}

// answerOf never returns nil, which would be stored as NULL.
func answerOf(receipt es.Receipt) []byte { return append([]byte{}, receipt.Answer...) }

// handled returns a *HandledError when one of the commands was handled before: it has a receipt, or an event of the
// aggregate has its id. Then the receipt was pruned by an earlier release, and the error has only the command's id.
func (a appending) handled(ctx context.Context, in session) error {
	for _, receipt := range a.write.Receipts {
		row, found, err := readReceipt(ctx, in, a.write.ID.Tenant, receipt.CommandID)
		if err != nil {
			return err
		}
		if found {
			return &es.HandledError{Receipt: row.receipt()}
		}
	}
	for _, entry := range a.write.Entries {
		_, found, err := readByCommand(ctx, in, a.write.ID, entry.CommandID)
		if err != nil {
			return err
		}
		if found {
			return &es.HandledError{Receipt: es.Receipt{CommandID: entry.CommandID}}
		}
	}
	return nil
}
