package readmodeltest

import (
	"time"

	"example.com/threads/domain/thread"
)

// event applies the thread's next event: change, then the version, which it returns.
func (w *World) event(id thread.ID, change func(seq uint64)) uint64 {
	w.t.Helper()
	w.tick()
	var version uint64
	err := w.db.GetContext(w.t.Context(), &version, `SELECT version FROM threads WHERE tenant_code = ? AND id = ?`, w.Tenant.String(), id.String())
	if err != nil {
		w.t.Fatalf("the version of thread %s: %v", id, err)
	}
	version++
	change(version)
	// The version is written last, so that a reader who sees it also sees the other rows, although these are separate
	// statements.
	w.exec(`UPDATE threads SET version = ?, updated_at = ? WHERE tenant_code = ? AND id = ?`,
		version, w.micros(), w.Tenant.String(), id.String())
	w.exec(`UPDATE projection_positions SET version = ? WHERE projection = 'read-model' AND tenant_code = ? AND aggregate_type = 'thread' AND aggregate_id = ?`,
		version, w.Tenant.String(), id.String())
	return version
}

func (w *World) tick() { w.now = w.now.Add(time.Millisecond) }

func (w *World) micros() int64 { return w.now.UnixMicro() }

func (w *World) exec(statement string, args ...any) {
	w.t.Helper()
	if _, err := w.db.ExecContext(w.t.Context(), statement, args...); err != nil {
		w.t.Fatalf("%s: %v", statement, err)
	}
}
