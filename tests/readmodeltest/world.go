package readmodeltest

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
)

// World writes the events of one tenant's threads. Every method is one event: it changes the rows and then the thread's
// version, a millisecond after the previous event on the world's clock.
type World struct {
	t      testing.TB
	db     *sqlx.DB
	Tenant usecase.Tenant
	now    time.Time
}

// World returns an empty world of the tenant with the given code.
func (d *Database) World(t testing.TB, code string) *World {
	t.Helper()
	tenant, err := usecase.ParseTenant(code)
	if err != nil {
		t.Fatal(err)
	}
	return &World{t: t, db: d.DB, Tenant: tenant, now: time.Date(2024, 2, 29, 12, 0, 0, 123456000, time.UTC)}
}

// NewID returns a new identifier.
func NewID[T any]() ident.Of[T] {
	var entropy [10]byte
	_, _ = rand.Read(entropy[:]) // never fails
	return ident.New[T](time.Now(), entropy)
}

// NewUser returns the id of a new user account.
func NewUser() thread.UserID { return NewID[ident.UserAccount]() }

// Key returns the key of a thread of the world.
func (w *World) Key(id thread.ID) usecase.Key {
	return chat.ThreadKey(w.Tenant, id)
}

// Now returns the time of the last event.
func (w *World) Now() time.Time { return w.now }

// Thread creates a thread. The creator becomes its first member.
func (w *World) Thread(name string, creator thread.UserID) thread.ID {
	w.t.Helper()
	id := NewID[thread.Thread]()
	w.ThreadWithID(id, name, creator)
	return id
}

// ThreadWithID is Thread with a given id, which another tenant may have too.
func (w *World) ThreadWithID(id thread.ID, name string, creator thread.UserID) {
	w.t.Helper()
	w.tick()
	w.exec(`INSERT INTO threads (tenant_code, id, name, owner_id, version, deleted, created_at, updated_at) VALUES (?, ?, ?, ?, 1, 0, ?, ?)`,
		w.Tenant.String(), id.String(), name, creator.String(), w.micros(), w.micros())
	w.member(id, creator, thread.RoleAdmin, 1)
	w.exec(`INSERT INTO projection_positions (projection, tenant_code, aggregate_type, aggregate_id, version, parked) VALUES ('read-model', ?, 'thread', ?, 1, 0)`,
		w.Tenant.String(), id.String())
}

// Rename renames the thread.
func (w *World) Rename(id thread.ID, name string) uint64 {
	w.t.Helper()
	return w.event(id, func(uint64) {
		w.exec(`UPDATE threads SET name = ? WHERE tenant_code = ? AND id = ?`, name, w.Tenant.String(), id.String())
	})
}

// Delete deletes the thread.
func (w *World) Delete(id thread.ID) uint64 {
	w.t.Helper()
	return w.event(id, func(uint64) {
		w.exec(`UPDATE threads SET deleted = 1 WHERE tenant_code = ? AND id = ?`, w.Tenant.String(), id.String())
	})
}

// Add adds a user account to the thread.
func (w *World) Add(id thread.ID, user thread.UserID) thread.MemberID {
	w.t.Helper()
	var member thread.MemberID
	w.event(id, func(seq uint64) { member = w.member(id, user, thread.RoleMember, seq) })
	return member
}

// Remove removes a user account from the thread.
func (w *World) Remove(id thread.ID, user thread.UserID) uint64 {
	w.t.Helper()
	return w.event(id, func(uint64) {
		w.exec(`UPDATE members SET removed = 1, updated_at = ? WHERE tenant_code = ? AND thread_id = ? AND user_account_id = ?`,
			w.micros(), w.Tenant.String(), id.String(), user.String())
	})
}

// Post posts a message.
func (w *World) Post(id thread.ID, sender thread.UserID, text string) thread.MessageID {
	w.t.Helper()
	message := NewID[thread.Message]()
	w.event(id, func(seq uint64) {
		w.exec(`INSERT INTO messages (tenant_code, id, thread_id, user_account_id, text, seq_nr, deleted, created_at, updated_at)
			VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?)`,
			w.Tenant.String(), message.String(), id.String(), sender.String(), text, seq, w.micros(), w.micros())
	})
	return message
}

// Unpost deletes a message.
func (w *World) Unpost(id thread.ID, message thread.MessageID) uint64 {
	w.t.Helper()
	return w.event(id, func(uint64) {
		w.exec(`UPDATE messages SET deleted = 1, text = '' WHERE tenant_code = ? AND id = ?`, w.Tenant.String(), message.String())
	})
}

func (w *World) member(id thread.ID, user thread.UserID, role thread.Role, seq uint64) thread.MemberID {
	w.t.Helper()
	member := NewID[thread.Member]()
	w.exec(`INSERT INTO members (tenant_code, id, thread_id, user_account_id, role, joined_seq, removed, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?)`,
		w.Tenant.String(), member.String(), id.String(), user.String(), role.String(), seq, w.micros(), w.micros())
	return member
}

// MemberID returns the id of a user account's membership in a thread.
func (w *World) MemberID(id thread.ID, user thread.UserID) (thread.MemberID, error) {
	var text string
	err := w.db.GetContext(w.t.Context(), &text, `SELECT id FROM members WHERE tenant_code = ? AND thread_id = ? AND user_account_id = ? AND removed = 0`,
		w.Tenant.String(), id.String(), user.String())
	if err != nil {
		return thread.MemberID{}, err
	}
	return ident.Parse[thread.Member](text)
}
