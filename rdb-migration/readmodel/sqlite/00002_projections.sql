-- Positions, checkpoints and dead letters by projection and aggregate, on SQLite. The same as in ../mysql, where they are
-- explained.

-- +goose Up
CREATE TABLE projection_positions (
    projection     TEXT    NOT NULL,
    tenant_code    TEXT    NOT NULL,
    aggregate_type TEXT    NOT NULL,
    aggregate_id   TEXT    NOT NULL,
    version        INTEGER NOT NULL,
    parked         INTEGER NOT NULL,
    PRIMARY KEY (projection, tenant_code, aggregate_type, aggregate_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE projection_types (
    projection        TEXT    NOT NULL,
    aggregate_type    TEXT    NOT NULL,
    complete          INTEGER NOT NULL,
    first_tenant_code TEXT    NOT NULL,
    first_id          TEXT    NOT NULL,
    updated_at        INTEGER NOT NULL,
    PRIMARY KEY (projection, aggregate_type)
) STRICT, WITHOUT ROWID;

CREATE TABLE projection_reports (
    projection     TEXT    NOT NULL,
    caught_up      INTEGER NOT NULL,
    behind_micros  INTEGER NOT NULL,
    behind_records INTEGER NOT NULL,
    at_least       INTEGER NOT NULL,
    reported_at    INTEGER NOT NULL,
    PRIMARY KEY (projection)
) STRICT, WITHOUT ROWID;

INSERT INTO projection_positions SELECT 'read-model', t.tenant_code, 'thread', t.id, t.version, d.thread_id IS NOT NULL
    FROM threads t LEFT JOIN dead_letters d ON d.tenant_code = t.tenant_code AND d.thread_id = t.id;
INSERT OR IGNORE INTO projection_positions SELECT 'read-model', tenant_code, 'thread', thread_id, 0, 1 FROM dead_letters;
INSERT INTO projection_types SELECT 'read-model', 'thread',
    NOT EXISTS (SELECT 1 FROM checkpoints WHERE shard = 'repair' AND position = 'due'), '', '', 0 FROM checkpoints LIMIT 1;
INSERT INTO projection_reports SELECT 'read-model', 1, 0, 0, 1, 0 FROM checkpoints LIMIT 1;

ALTER TABLE checkpoints RENAME TO checkpoints_before;
CREATE TABLE checkpoints (
    projection TEXT    NOT NULL,
    source     TEXT    NOT NULL,
    shard      TEXT    NOT NULL,
    position   TEXT    NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (projection, source, shard)
) STRICT, WITHOUT ROWID;
INSERT INTO checkpoints SELECT 'read-model', source, shard, position, updated_at FROM checkpoints_before WHERE shard <> 'repair';
DROP TABLE checkpoints_before;

ALTER TABLE dead_letters RENAME TO dead_letters_before;
DROP INDEX dead_letters_due;
CREATE TABLE dead_letters (
    projection     TEXT    NOT NULL,
    tenant_code    TEXT    NOT NULL,
    aggregate_type TEXT    NOT NULL,
    aggregate_id   TEXT    NOT NULL,
    seq_nr         INTEGER NOT NULL,
    event_id       TEXT    NOT NULL,
    payload        BLOB    NOT NULL,
    reason         TEXT    NOT NULL,
    attempts       INTEGER NOT NULL,
    parked_at      INTEGER NOT NULL,
    retry_at       INTEGER NOT NULL,
    PRIMARY KEY (projection, tenant_code, aggregate_type, aggregate_id)
) STRICT;
CREATE INDEX dead_letters_due ON dead_letters (projection, retry_at);
INSERT INTO dead_letters SELECT 'read-model', tenant_code, 'thread', thread_id, seq_nr, event_id, payload, reason, attempts, parked_at, retry_at
    FROM dead_letters_before;
DROP TABLE dead_letters_before;

-- +goose Down
ALTER TABLE dead_letters RENAME TO dead_letters_after;
DROP INDEX dead_letters_due;
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
INSERT INTO dead_letters SELECT tenant_code, aggregate_id, seq_nr, event_id, payload, reason, attempts, parked_at, retry_at
    FROM dead_letters_after WHERE projection = 'read-model' AND aggregate_type = 'thread';
DROP TABLE dead_letters_after;

ALTER TABLE checkpoints RENAME TO checkpoints_after;
CREATE TABLE checkpoints (
    source     TEXT    NOT NULL,
    shard      TEXT    NOT NULL,
    position   TEXT    NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (source, shard)
) STRICT, WITHOUT ROWID;
INSERT INTO checkpoints SELECT source, shard, position, updated_at FROM checkpoints_after WHERE projection = 'read-model';
DROP TABLE checkpoints_after;
DROP TABLE projection_reports;
DROP TABLE projection_types;
DROP TABLE projection_positions;
