package projectionstore

import (
	"strings"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/interfaceadaptor/readmodel/internal/rowkey"
	"example.com/threads/usecase/projection"
)

// The records are rows as the drivers know them, with the columns in the order of tables.go.

type threadRecord struct {
	rowkey.Key
	Name      string `db:"name"`
	Owner     string `db:"owner_id"`
	Version   int64  `db:"version"`
	Deleted   bool   `db:"deleted"`
	CreatedAt int64  `db:"created_at"`
	UpdatedAt int64  `db:"updated_at"`
}

func threadValues(row projection.Thread) []any {
	key := rowkey.OfThread(row.Key)
	return []any{key.Tenant, key.ID, row.Name, row.Owner.String(), int64(row.Version), row.Deleted, row.CreatedAt.UnixMicro(), row.UpdatedAt.UnixMicro()}
}

func (r threadRecord) row() (projection.Thread, error) {
	key, err := r.Thread()
	if err != nil {
		return projection.Thread{}, err
	}
	owner, err := rowkey.ParseID[ident.UserAccount](r.Owner)
	return projection.Thread{
		Key: key, Name: r.Name, Owner: owner, Version: uint64(r.Version), Deleted: r.Deleted,
		CreatedAt: timeOf(r.CreatedAt), UpdatedAt: timeOf(r.UpdatedAt),
	}, err
}

type memberRecord struct {
	rowkey.Key
	Thread    string `db:"thread_id"`
	User      string `db:"user_account_id"`
	Role      string `db:"role"`
	JoinedSeq int64  `db:"joined_seq"`
	Removed   bool   `db:"removed"`
	CreatedAt int64  `db:"created_at"`
	UpdatedAt int64  `db:"updated_at"`
}

func memberValues(row projection.Member) []any {
	key := memberRowKey(row.Key)
	return []any{key.Tenant, key.ID, row.Thread.String(), row.User.String(), row.Role, int64(row.JoinedSeq), row.Removed,
		row.CreatedAt.UnixMicro(), row.UpdatedAt.UnixMicro()}
}

func (r memberRecord) row() (projection.Member, error) {
	tenant, id, err := rowkey.Parse[thread.Member](r.Key)
	if err != nil {
		return projection.Member{}, err
	}
	in, err := rowkey.ParseID[thread.Thread](r.Thread)
	if err != nil {
		return projection.Member{}, err
	}
	user, err := rowkey.ParseID[ident.UserAccount](r.User)
	return projection.Member{
		Key: projection.MemberKey{Tenant: tenant, ID: id}, Thread: in, User: user, Role: r.Role, JoinedSeq: uint64(r.JoinedSeq),
		Removed: r.Removed, CreatedAt: timeOf(r.CreatedAt), UpdatedAt: timeOf(r.UpdatedAt),
	}, err
}

type messageRecord struct {
	rowkey.Key
	Thread    string `db:"thread_id"`
	Sender    string `db:"user_account_id"`
	Text      string `db:"text"`
	SeqNr     int64  `db:"seq_nr"`
	Deleted   bool   `db:"deleted"`
	CreatedAt int64  `db:"created_at"`
	UpdatedAt int64  `db:"updated_at"`
}

func messageValues(row projection.Message) []any {
	key := messageRowKey(row.Key)
	return []any{key.Tenant, key.ID, row.Thread.String(), row.Sender.String(), row.Text, int64(row.SeqNr), row.Deleted,
		row.CreatedAt.UnixMicro(), row.UpdatedAt.UnixMicro()}
}

func (r messageRecord) row() (projection.Message, error) {
	tenant, id, err := rowkey.Parse[thread.Message](r.Key)
	if err != nil {
		return projection.Message{}, err
	}
	in, err := rowkey.ParseID[thread.Thread](r.Thread)
	if err != nil {
		return projection.Message{}, err
	}
	sender, err := rowkey.ParseID[ident.UserAccount](r.Sender)
	return projection.Message{
		Key: projection.MessageKey{Tenant: tenant, ID: id}, Thread: in, Sender: sender, Text: r.Text, SeqNr: uint64(r.SeqNr),
		Deleted: r.Deleted, CreatedAt: timeOf(r.CreatedAt), UpdatedAt: timeOf(r.UpdatedAt),
	}, err
}

type deadLetterRecord struct {
	Tenant   string `db:"tenant_code"`
	Thread   string `db:"thread_id"`
	SeqNr    int64  `db:"seq_nr"`
	EventID  string `db:"event_id"`
	Payload  []byte `db:"payload"`
	Reason   string `db:"reason"`
	Attempts int    `db:"attempts"`
	ParkedAt int64  `db:"parked_at"`
	RetryAt  int64  `db:"retry_at"`
}

// What can't be read may be anything: a dead letter keeps as much of it as its columns take.
const (
	eventIDKept = 64   // code points
	reasonKept  = 2000 // code points
	payloadKept = 1 << 20
)

func deadLetterValues(letter projection.DeadLetter) []any {
	key := rowkey.OfThread(letter.Key)
	payload := append([]byte{}, letter.Payload[:min(len(letter.Payload), payloadKept)]...)
	return []any{key.Tenant, key.ID, int64(letter.SeqNr), cut(letter.EventID, eventIDKept), payload, cut(letter.Reason, reasonKept),
		letter.Attempts, letter.ParkedAt.UnixMicro(), letter.RetryAt.UnixMicro()}
}

func (r deadLetterRecord) row() (projection.DeadLetter, error) {
	key, err := rowkey.Key{Tenant: r.Tenant, ID: r.Thread}.Thread()
	return projection.DeadLetter{
		Key: key, SeqNr: uint64(r.SeqNr), EventID: r.EventID, Payload: r.Payload, Reason: r.Reason, Attempts: r.Attempts,
		ParkedAt: timeOf(r.ParkedAt), RetryAt: timeOf(r.RetryAt),
	}, err
}

func cut(text string, kept int) string {
	points := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	return string(points[:min(len(points), kept)])
}

func timeOf(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
