-- Events that an operator has skipped in a projection, on SQLite. The same as in ../mysql, where it is explained.

-- +goose Up
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

-- +goose Down
DROP TABLE skipped_events;
