-- The event store, on SQLite. The same tables as in ../mysql, where they are explained. There is one writer at a time,
-- so sequence numbers become visible in order, without holes.

-- +goose Up
CREATE TABLE aggregates (
    tenant_code      TEXT    NOT NULL,
    aggregate_id     TEXT    NOT NULL,
    type             TEXT    NOT NULL,
    version          INTEGER NOT NULL,
    snapshot_version INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    PRIMARY KEY (tenant_code, aggregate_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    sequence_number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant_code     TEXT    NOT NULL,
    aggregate_type  TEXT    NOT NULL,
    aggregate_id    TEXT    NOT NULL,
    version         INTEGER NOT NULL,
    event_id        TEXT    NOT NULL,
    command_id      TEXT,
    correlation_id  TEXT    NOT NULL,
    user_id         TEXT    NOT NULL,
    event_type      TEXT    NOT NULL,
    event_content   TEXT    NOT NULL,
    occurred_at     INTEGER NOT NULL,
    UNIQUE (tenant_code, aggregate_id, version),
    UNIQUE (tenant_code, command_id, aggregate_id),
    FOREIGN KEY (tenant_code, aggregate_id) REFERENCES aggregates (tenant_code, aggregate_id)
) STRICT;

CREATE TABLE snapshots (
    tenant_code    TEXT    NOT NULL,
    aggregate_id   TEXT    NOT NULL,
    version        INTEGER NOT NULL,
    aggregate_type TEXT    NOT NULL,
    encoding       TEXT    NOT NULL,
    checksum       TEXT    NOT NULL,
    snapshot       BLOB    NOT NULL,
    created_at     INTEGER NOT NULL,
    PRIMARY KEY (tenant_code, aggregate_id, version)
) STRICT;

CREATE TABLE receipts (
    tenant_code TEXT    NOT NULL,
    command_id  TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    answer      BLOB    NOT NULL,
    expires_at  INTEGER NOT NULL,
    PRIMARY KEY (tenant_code, command_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_queue (
    id       INTEGER PRIMARY KEY,
    store_id TEXT NOT NULL
) STRICT;
INSERT INTO event_queue (id, store_id) VALUES (1, lower(hex(randomblob(16))));

-- +goose Down
DROP TABLE event_queue;
DROP TABLE receipts;
DROP TABLE snapshots;
DROP TABLE events;
DROP TABLE aggregates;
