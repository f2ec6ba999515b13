-- Accounts, and the tables of process managers, on SQLite. The same as in ../mysql.

-- +goose Up

-- version is the seq_nr of the last event in the row.
CREATE TABLE accounts (
    tenant_code TEXT NOT NULL,
    id          TEXT NOT NULL,
    name        TEXT NOT NULL,
    closed      INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    PRIMARY KEY (tenant_code, id)
) STRICT, WITHOUT ROWID;

-- The outbox of process managers. Sent commands are removed. A command with attempts failed the last time, for the
-- stored reason, and is retried at due_at.
CREATE TABLE process_commands (
    process        TEXT NOT NULL,
    tenant_code    TEXT NOT NULL,
    aggregate_type TEXT NOT NULL, -- that the command is for
    aggregate_id   TEXT NOT NULL,
    event_id       TEXT NOT NULL, -- that it was found necessary by
    name           TEXT NOT NULL,
    executor_id    TEXT NOT NULL,
    causation_id   TEXT NOT NULL, -- the event that it follows from
    correlation_id TEXT NOT NULL,
    attempts       INTEGER NOT NULL,
    reason         TEXT NOT NULL,
    due_at         INTEGER NOT NULL,
    PRIMARY KEY (process, tenant_code, aggregate_type, aggregate_id, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX process_commands_due ON process_commands (process, due_at);

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
DROP TABLE leave_on_close_memberships;
DROP TABLE leave_on_close_accounts;
DROP TABLE process_commands;
DROP TABLE accounts;
