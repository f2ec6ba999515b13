package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"example.com/threads/interfaceadaptor/eventstore"
	"example.com/threads/interfaceadaptor/sqldialect"
)

var receiptColumns = []string{"tenant_code", "command_id", "fingerprint", "answer", "expires_at"}

type receiptRow struct {
	CommandID   string `db:"command_id"`
	Fingerprint string `db:"fingerprint"`
	Answer      []byte `db:"answer"`
	ExpiresAt   int64  `db:"expires_at"`
}

func (r receiptRow) receipt() eventstore.Receipt {
	return eventstore.Receipt{
		CommandID: r.CommandID, Fingerprint: r.Fingerprint, Answer: r.Answer, ExpiresAt: time.UnixMicro(r.ExpiresAt).UTC(),
	}
}

// Receipt reads consistently. An expired receipt counts as missing.
func (g *Gateway) Receipt(ctx context.Context, tenant, commandID string) (eventstore.Receipt, bool, error) {
	row, found, err := readReceipt(ctx, g.db, tenant, commandID)
	if err != nil {
		return eventstore.Receipt{}, false, explain(ctx, g.dialect, err, "read the receipt of command %s", commandID)
	}
	if !found || row.ExpiresAt <= g.settings.Clock().UnixMicro() {
		return eventstore.Receipt{}, false, nil
	}
	return row.receipt(), true, nil
}

func readReceipt(ctx context.Context, in session, tenant, commandID string) (row receiptRow, found bool, err error) {
	err = in.GetContext(ctx, &row,
		"SELECT command_id, fingerprint, answer, expires_at FROM receipts WHERE tenant_code = ? AND command_id = ?", tenant, commandID)
	if errors.Is(err, sql.ErrNoRows) {
		return row, false, nil
	}
	return row, err == nil, err
}

// addReceipts inserts all receipts in one statement, or one by one if some exist already.
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
	if a.gateway.dialect.Classify(err) != sqldialect.Duplicate {
		return err
	}
	for _, receipt := range receipts {
		if err := a.renewReceipt(ctx, in, receipt); err != nil {
			return err
		}
	}
	return nil
}

// renewReceipt replaces an expired receipt, or inserts a new one. It does not lock a valid receipt for update: on
// MySQL, concurrent repeats all share its lock by now and would deadlock.
func (a appending) renewReceipt(ctx context.Context, in session, receipt eventstore.Receipt) error {
	now := a.gateway.settings.Clock().UnixMicro()
	row, found, err := readReceipt(ctx, in, a.write.ID.Tenant, receipt.CommandID)
	if err != nil {
		return err
	}
	if found && row.ExpiresAt > now {
		return errRefused
	}
	renewed, err := changed(ctx, in,
		"UPDATE receipts SET fingerprint = ?, answer = ?, expires_at = ? WHERE tenant_code = ? AND command_id = ? AND expires_at <= ?",
		receipt.Fingerprint, answerOf(receipt), receipt.ExpiresAt.UnixMicro(), a.write.ID.Tenant, receipt.CommandID, now)
	if err == nil && renewed == 0 {
		_, err = in.ExecContext(ctx, a.gateway.dialect.Insert("receipts", receiptColumns, 1), a.receiptValues(receipt)...)
	}
	return err
}

func (a appending) receiptValues(receipt eventstore.Receipt) []any {
	return []any{a.write.ID.Tenant, receipt.CommandID, receipt.Fingerprint, answerOf(receipt), receipt.ExpiresAt.UnixMicro()}
}

// answerOf never returns nil, which would be stored as NULL.
func answerOf(receipt eventstore.Receipt) []byte { return append([]byte{}, receipt.Answer...) }

// handled returns a *HandledError when one of the commands was handled before: it has a receipt, or an event of the
// aggregate has its id. An aggregate never handles a command id twice, so here even an expired receipt counts.
func (a appending) handled(ctx context.Context, in session) error {
	now := a.gateway.settings.Clock().UnixMicro()
	for _, receipt := range a.write.Receipts {
		row, found, err := readReceipt(ctx, in, a.write.ID.Tenant, receipt.CommandID)
		if err != nil {
			return err
		}
		if found && row.ExpiresAt > now {
			return &eventstore.HandledError{Receipt: row.receipt()}
		}
	}
	for _, entry := range a.write.Entries {
		earlier, found, err := readByCommand(ctx, in, a.write.ID, entry.CommandID)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		row, found, err := readReceipt(ctx, in, a.write.ID.Tenant, entry.CommandID)
		switch {
		case err != nil:
			return err
		case found:
			return &eventstore.HandledError{Receipt: row.receipt()}
		default:
			return fmt.Errorf("command %s was handled before as event %d, but its receipt is missing: send the command with a new id",
				entry.CommandID, earlier.SeqNr)
		}
	}
	return nil
}
