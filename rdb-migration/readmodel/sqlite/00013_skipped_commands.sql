-- The failures of process managers' commands, and the commands that an operator has skipped, on SQLite. The same as in
-- ../mysql, where it is explained.

-- +goose Up
ALTER TABLE process_commands ADD COLUMN failing_since INTEGER NOT NULL DEFAULT 0;

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
DROP TABLE skipped_commands;
ALTER TABLE process_commands DROP COLUMN failing_since;
