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
    PRIMARY KEY (tenant_code, id)
) STRICT, WITHOUT ROWID;

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
    PRIMARY KEY (tenant_code, id)
) STRICT;
CREATE INDEX messages_of_thread ON messages (tenant_code, thread_id, deleted, seq_nr);

CREATE TABLE checkpoints (
    source     TEXT    NOT NULL,
    shard      TEXT    NOT NULL,
    position   TEXT    NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (source, shard)
) STRICT, WITHOUT ROWID;

CREATE TABLE dead_letters (
    tenant_code TEXT    NOT NULL,
    thread_id   TEXT    NOT NULL,
    seq_nr      INTEGER NOT NULL,
    event_id    TEXT    NOT NULL,
    payload     BLOB    NOT NULL,
    reason      TEXT    NOT NULL,
    attempts    INTEGER NOT NULL,
    parked_at   INTEGER NOT NULL,
    retry_at    INTEGER NOT NULL,
    PRIMARY KEY (tenant_code, thread_id)
) STRICT;
CREATE INDEX dead_letters_due ON dead_letters (retry_at);

-- +goose Down
DROP TABLE dead_letters;
DROP TABLE checkpoints;
DROP TABLE messages;
DROP TABLE members;
DROP TABLE threads;
