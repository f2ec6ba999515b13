-- Positions, checkpoints, dead letters and rebuilds of projections, and the commands of process managers, on SQLite. The
-- same tables as in ../mysql, where they are explained.

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

CREATE TABLE checkpoints (
    projection TEXT    NOT NULL,
    source     TEXT    NOT NULL,
    shard      TEXT    NOT NULL,
    position   TEXT    NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (projection, source, shard)
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

CREATE TABLE skipped_events (
    projection     TEXT    NOT NULL,
    tenant_code    TEXT    NOT NULL,
    aggregate_type TEXT    NOT NULL,
    aggregate_id   TEXT    NOT NULL,
    seq_nr         INTEGER NOT NULL,
    event_id       TEXT    NOT NULL,
    cause          TEXT    NOT NULL,
    reason         TEXT    NOT NULL,
    skipped_by     TEXT    NOT NULL,
    skipped_at     INTEGER NOT NULL,
    PRIMARY KEY (projection, tenant_code, aggregate_type, aggregate_id, seq_nr)
) STRICT;

CREATE TABLE row_sets (
    projection TEXT NOT NULL,
    set_name   TEXT NOT NULL,
    handlers   TEXT NOT NULL,
    PRIMARY KEY (projection)
) STRICT, WITHOUT ROWID;

CREATE TABLE projection_rebuilds (
    projection   TEXT    NOT NULL,
    generation   INTEGER NOT NULL,
    set_name     TEXT    NOT NULL,
    handlers     TEXT    NOT NULL,
    phase        TEXT    NOT NULL,
    events_done  INTEGER NOT NULL,
    events_total INTEGER NOT NULL,
    cancelled    INTEGER NOT NULL,
    failure      TEXT    NOT NULL,
    started_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (projection)
) STRICT, WITHOUT ROWID;

CREATE TABLE projection_turn (
    id     INTEGER NOT NULL PRIMARY KEY,
    term   INTEGER NOT NULL,
    holder TEXT    NOT NULL,
    since  INTEGER NOT NULL
) STRICT;
INSERT INTO projection_turn VALUES (1, 0, '', 0);

-- The outbox of process managers. Sent commands are removed. A command with attempts failed the last time, for the
-- stored reason, and is retried at due_at.
CREATE TABLE process_commands (
    process        TEXT    NOT NULL,
    tenant_code    TEXT    NOT NULL,
    aggregate_type TEXT    NOT NULL, -- that the command is for
    aggregate_id   TEXT    NOT NULL,
    event_id       TEXT    NOT NULL, -- that it was found necessary by
    name           TEXT    NOT NULL,
    executor_id    TEXT    NOT NULL,
    causation_id   TEXT    NOT NULL, -- the event that it follows from
    correlation_id TEXT    NOT NULL,
    attempts       INTEGER NOT NULL,
    reason         TEXT    NOT NULL,
    due_at         INTEGER NOT NULL,
    failing_since  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (process, tenant_code, aggregate_type, aggregate_id, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX process_commands_due ON process_commands (process, due_at);

CREATE TABLE skipped_commands (
    process        TEXT    NOT NULL,
    tenant_code    TEXT    NOT NULL,
    aggregate_type TEXT    NOT NULL,
    aggregate_id   TEXT    NOT NULL,
    event_id       TEXT    NOT NULL,
    name           TEXT    NOT NULL,
    executor_id    TEXT    NOT NULL,
    cause          TEXT    NOT NULL,
    reason         TEXT    NOT NULL,
    skipped_by     TEXT    NOT NULL,
    skipped_at     INTEGER NOT NULL,
    PRIMARY KEY (process, tenant_code, aggregate_type, aggregate_id, event_id)
) STRICT;

-- +goose Down
DROP TABLE IF EXISTS skipped_commands;
DROP TABLE IF EXISTS process_commands;
DROP TABLE IF EXISTS projection_turn;
DROP TABLE IF EXISTS projection_rebuilds;
DROP TABLE IF EXISTS row_sets;
DROP TABLE IF EXISTS row_sets_next;
DROP TABLE IF EXISTS row_sets_old;
DROP TABLE IF EXISTS skipped_events;
DROP TABLE IF EXISTS dead_letters;
DROP TABLE IF EXISTS projection_reports;
DROP TABLE IF EXISTS projection_types;
DROP TABLE IF EXISTS checkpoints;
DROP TABLE IF EXISTS projection_positions;
