package queryreader

import (
	"fmt"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/usecase/query"
)

// The columns of a row, with what a list adds.
const (
	threadColumns  = `t.id, t.name, t.owner_id, t.version, t.created_at, t.updated_at`
	memberColumns  = `m.id, m.thread_id, m.user_account_id, m.role, m.joined_seq, m.created_at, m.updated_at`
	messageColumns = `s.id, s.thread_id, s.user_account_id, s.text, s.seq_nr, s.created_at, s.updated_at`
)

type threadRow struct {
	Part      part   `db:"part"`
	ID        string `db:"id"`
	Name      string `db:"name"`
	OwnerID   string `db:"owner_id"`
	Version   uint64 `db:"version"`
	CreatedAt int64  `db:"created_at"`
	UpdatedAt int64  `db:"updated_at"`
}

func (r threadRow) thread() (query.Thread, error) {
	id, idErr := ident.Parse[thread.Thread](r.ID)
	owner, ownerErr := ident.Parse[ident.UserAccount](r.OwnerID)
	return query.Thread{
		ID: id, Name: r.Name, Owner: owner, Version: r.Version, CreatedAt: at(r.CreatedAt), UpdatedAt: at(r.UpdatedAt),
	}, unreadable("thread", r.ID, idErr, ownerErr)
}

type memberRow struct {
	Part      part   `db:"part"`
	ID        string `db:"id"`
	ThreadID  string `db:"thread_id"`
	UserID    string `db:"user_account_id"`
	Role      string `db:"role"`
	JoinedSeq uint64 `db:"joined_seq"`
	CreatedAt int64  `db:"created_at"`
	UpdatedAt int64  `db:"updated_at"`
}

func (r memberRow) member() (query.Member, error) {
	id, idErr := ident.Parse[thread.Member](r.ID)
	threadID, threadErr := ident.Parse[thread.Thread](r.ThreadID)
	user, userErr := ident.Parse[ident.UserAccount](r.UserID)
	role, roleErr := thread.ParseRole(r.Role)
	return query.Member{
		ID: id, Thread: threadID, User: user, Role: role, JoinedSeq: r.JoinedSeq, CreatedAt: at(r.CreatedAt), UpdatedAt: at(r.UpdatedAt),
	}, unreadable("member", r.ID, idErr, threadErr, userErr, roleErr)
}

type messageRow struct {
	Part      part   `db:"part"`
	ID        string `db:"id"`
	ThreadID  string `db:"thread_id"`
	UserID    string `db:"user_account_id"`
	Text      string `db:"text"`
	SeqNr     uint64 `db:"seq_nr"`
	CreatedAt int64  `db:"created_at"`
	UpdatedAt int64  `db:"updated_at"`
}

func (r messageRow) message() (query.Message, error) {
	id, idErr := ident.Parse[thread.Message](r.ID)
	threadID, threadErr := ident.Parse[thread.Thread](r.ThreadID)
	sender, senderErr := ident.Parse[ident.UserAccount](r.UserID)
	return query.Message{
		ID: id, Thread: threadID, Sender: sender, Text: r.Text, SeqNr: r.SeqNr, CreatedAt: at(r.CreatedAt), UpdatedAt: at(r.UpdatedAt),
	}, unreadable("message", r.ID, idErr, threadErr, senderErr)
}

func at(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

// unreadable is the error of a row with a column that can't be read. It does not wrap the cause, which would blame the
// one who asked.
func unreadable(kind, id string, columns ...error) error {
	for _, err := range columns {
		if err != nil {
			return fmt.Errorf("the read model's %s %q can't be read: %v", kind, id, err) //nolint:errorlint // see above
		}
	}
	return nil
}
