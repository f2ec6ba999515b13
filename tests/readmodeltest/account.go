package readmodeltest

import "example.com/threads/domain/account"

// Account gives a user account a name.
func (w *World) Account(id account.ID, name string) {
	w.t.Helper()
	w.tick()
	w.exec(`INSERT INTO accounts (tenant_code, id, name, closed, version, created_at, updated_at) VALUES (?, ?, ?, 0, 1, ?, ?)`,
		w.Tenant.String(), id.String(), name, w.micros(), w.micros())
	w.exec(`INSERT INTO projection_positions (projection, tenant_code, aggregate_type, aggregate_id, version, parked) VALUES ('read-model', ?, 'account', ?, 1, 0)`,
		w.Tenant.String(), id.String())
}

// CloseAccount closes an account that has version 1.
func (w *World) CloseAccount(id account.ID) {
	w.t.Helper()
	w.tick()
	w.exec(`UPDATE accounts SET closed = 1, version = 2, updated_at = ? WHERE tenant_code = ? AND id = ?`, w.micros(), w.Tenant.String(), id.String())
	w.exec(`UPDATE projection_positions SET version = 2 WHERE projection = 'read-model' AND tenant_code = ? AND aggregate_type = 'account' AND aggregate_id = ?`,
		w.Tenant.String(), id.String())
}
