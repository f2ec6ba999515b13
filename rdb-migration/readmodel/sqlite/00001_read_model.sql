-- The read model, on SQLite. The same tables as in ../mysql, where they are explained.

-- +goose Up
CREATE TABLE threads (
    tenant_code TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    owner_id    TEXT    NOT NULL,
    version     INTEGER NOT NULL,
    deleted     INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    created_by  TEXT    NOT NULL DEFAULT '',
    updated_by  TEXT    NOT NULL DEFAULT '',
    created_ip  TEXT    NOT NULL DEFAULT '',
    updated_ip  TEXT    NOT NULL DEFAULT '',
    request_id  TEXT    NOT NULL DEFAULT '',
    source      TEXT    NOT NULL DEFAULT '',
    code        TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_code, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX threads_code ON threads (tenant_code, code);
CREATE INDEX threads_by_change ON threads (tenant_code, deleted, updated_at, id);

CREATE TABLE members (
    tenant_code     TEXT    NOT NULL,
    id              TEXT    NOT NULL,
    thread_id       TEXT    NOT NULL,
    user_account_id TEXT    NOT NULL,
    role            TEXT    NOT NULL,
    joined_seq      INTEGER NOT NULL,
    removed         INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    created_by      TEXT    NOT NULL DEFAULT '',
    updated_by      TEXT    NOT NULL DEFAULT '',
    created_ip      TEXT    NOT NULL DEFAULT '',
    updated_ip      TEXT    NOT NULL DEFAULT '',
    request_id      TEXT    NOT NULL DEFAULT '',
    source          TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_code, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_of_thread ON members (tenant_code, thread_id, removed, joined_seq);
CREATE INDEX members_of_user ON members (tenant_code, user_account_id, removed, thread_id);
CREATE INDEX members_of_thread_and_user ON members (tenant_code, thread_id, user_account_id);

CREATE TABLE messages (
    tenant_code     TEXT    NOT NULL,
    id              TEXT    NOT NULL,
    thread_id       TEXT    NOT NULL,
    user_account_id TEXT    NOT NULL,
    text            TEXT    NOT NULL,
    seq_nr          INTEGER NOT NULL,
    deleted         INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    created_by      TEXT    NOT NULL DEFAULT '',
    updated_by      TEXT    NOT NULL DEFAULT '',
    created_ip      TEXT    NOT NULL DEFAULT '',
    updated_ip      TEXT    NOT NULL DEFAULT '',
    request_id      TEXT    NOT NULL DEFAULT '',
    source          TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_code, id)
) STRICT;
CREATE INDEX messages_of_thread ON messages (tenant_code, thread_id, deleted, seq_nr);

-- version is the seq_nr of the last event in the row.
CREATE TABLE accounts (
    tenant_code TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    closed      INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    created_by  TEXT    NOT NULL DEFAULT '',
    updated_by  TEXT    NOT NULL DEFAULT '',
    created_ip  TEXT    NOT NULL DEFAULT '',
    updated_ip  TEXT    NOT NULL DEFAULT '',
    request_id  TEXT    NOT NULL DEFAULT '',
    source      TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_code, id)
) STRICT, WITHOUT ROWID;

-- What leave-on-close knows of user accounts that are or were members. The row is also the lock of the account's
-- memberships. closed_by is the event that closed the account; empty: it is open.
CREATE TABLE leave_on_close_accounts (
    tenant_code    TEXT NOT NULL,
    account_id     TEXT NOT NULL,
    closed_by      TEXT NOT NULL,
    correlation_id TEXT NOT NULL, -- of that event
    PRIMARY KEY (tenant_code, account_id)
) STRICT, WITHOUT ROWID;

-- The threads that each user account is a member of.
CREATE TABLE leave_on_close_memberships (
    tenant_code TEXT NOT NULL,
    account_id  TEXT NOT NULL,
    thread_id   TEXT NOT NULL,
    PRIMARY KEY (tenant_code, account_id, thread_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX leave_on_close_memberships_of_thread ON leave_on_close_memberships (tenant_code, thread_id);

-- +goose Down
DROP TABLE IF EXISTS leave_on_close_memberships;
DROP TABLE IF EXISTS leave_on_close_accounts;
DROP TABLE IF EXISTS accounts;
DROP TABLE IF EXISTS accounts_next;
DROP TABLE IF EXISTS accounts_old;
DROP TABLE IF EXISTS messages;
DROP TABLE IF EXISTS messages_next;
DROP TABLE IF EXISTS messages_old;
DROP TABLE IF EXISTS members;
DROP TABLE IF EXISTS members_next;
DROP TABLE IF EXISTS members_old;
DROP TABLE IF EXISTS threads;
DROP TABLE IF EXISTS threads_next;
DROP TABLE IF EXISTS threads_old;
