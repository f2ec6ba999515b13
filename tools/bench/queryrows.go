package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"

	"github.com/jmoiron/sqlx"
	"github.com/oklog/ulid/v2"
)

// token returns the Consistency-Token of an answer.
func (a answer) token() string { return a.Thread + ":" + strconv.Itoa(a.Version) }

// fill creates a thread with so many members, including its creator, and messages. It returns the last answer.
func (s *runningSystem) fill(ctx context.Context, creator string, members, messages int) (answer, error) {
	id, err := s.createThread(ctx, creator, "a thread to read")
	if err != nil {
		return answer{}, err
	}
	last := answer{Thread: id, Version: 1}
	send := func(path string, body map[string]any) error {
		body["executor_id"], body["thread_id"] = creator, id
		return s.call(ctx, path, body, &last)
	}
	for range members - 1 {
		if err := send("/threads/add_member", map[string]any{"user_account_id": ulid.Make().String(), "role": "Member"}); err != nil {
			return last, err
		}
	}
	for i := range messages {
		text := fmt.Sprintf("%-*d.", messageLength-1, i)
		if err := send("/threads/post_message", map[string]any{"text": text}); err != nil {
			return last, err
		}
	}
	return last, nil
}

// rowReader reads rows of the read model with prepared statements.
type rowReader struct {
	db             *sqlx.DB
	thread, viewer string

	messagesOf, threadsOf, membersOf, lastMessagesOf *sqlx.Stmt
}

// The columns of the queries.
type (
	messageRow struct {
		ID        string `db:"id"`
		Thread    string `db:"thread_id"`
		User      string `db:"user_account_id"`
		Text      string `db:"text"`
		CreatedAt int64  `db:"created_at"`
		UpdatedAt int64  `db:"updated_at"`
	}
	threadRow struct {
		ID        string `db:"id"`
		Name      string `db:"name"`
		UpdatedAt int64  `db:"updated_at"`
	}
	memberRow struct {
		ID   string `db:"id"`
		User string `db:"user_account_id"`
		Role string `db:"role"`
	}
)

// openRows opens the file of a read model.
func openRows(ctx context.Context, file, thread, viewer string) (*rowReader, error) {
	db, err := sqlx.Open("sqlite3", "file:"+url.PathEscape(file)+"?_pragma=busy_timeout(10000)&_pragma=cache_size(-16384)")
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(queryClients)
	r := &rowReader{db: db, thread: thread, viewer: viewer}
	for _, statement := range []struct {
		prepared **sqlx.Stmt
		text     string
	}{
		{&r.messagesOf, `SELECT id, thread_id, user_account_id, text, created_at, updated_at FROM messages
			WHERE tenant_code = '' AND thread_id = ? AND deleted = 0 ORDER BY seq_nr LIMIT 100`},
		{&r.threadsOf, `SELECT t.id, t.name, t.updated_at FROM members v JOIN threads t ON t.tenant_code = v.tenant_code AND t.id = v.thread_id AND t.deleted = 0
			WHERE v.tenant_code = '' AND v.user_account_id = ? AND v.removed = 0 ORDER BY t.updated_at DESC LIMIT 20`},
		{&r.membersOf, `SELECT id, user_account_id, role FROM members WHERE tenant_code = '' AND thread_id = ? AND removed = 0 ORDER BY joined_seq LIMIT 10`},
		{&r.lastMessagesOf, `SELECT id, user_account_id, text, created_at FROM messages
			WHERE tenant_code = '' AND thread_id = ? AND deleted = 0 ORDER BY seq_nr DESC LIMIT 10`},
	} {
		if *statement.prepared, err = db.PreparexContext(ctx, statement.text); err != nil { //nolint:sqlclosecheck // they end with the database
			return nil, errors.Join(err, db.Close())
		}
	}
	return r, nil
}

func (r *rowReader) close() { _ = r.db.Close() }

// messages reads the rows of query.messages100.
func (r *rowReader) messages(ctx context.Context) (int, error) {
	var found []messageRow
	err := r.messagesOf.SelectContext(ctx, &found, r.thread)
	return len(found), err
}

// nested reads the rows of query.nested.
func (r *rowReader) nested(ctx context.Context) (int, error) {
	var threads []threadRow
	if err := r.threadsOf.SelectContext(ctx, &threads, r.viewer); err != nil {
		return 0, err
	}
	count := len(threads)
	for _, thread := range threads {
		var members []memberRow
		if err := r.membersOf.SelectContext(ctx, &members, thread.ID); err != nil {
			return count, err
		}
		var messages []messageRow
		if err := r.lastMessagesOf.SelectContext(ctx, &messages, thread.ID); err != nil {
			return count, err
		}
		count += len(members) + len(messages)
	}
	return count, nil
}

// readModel returns the file of the running program's read model.
func (s *runningSystem) readModel() string { return filepath.Join(s.data, "readmodel.db") }
