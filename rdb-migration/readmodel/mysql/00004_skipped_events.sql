-- Events that an operator has skipped in a projection, on MySQL and MariaDB. The same as in ../sqlite.

-- +goose Up
-- cause is why the event could not be projected; reason is the operator's reason to skip it.
CREATE TABLE IF NOT EXISTS skipped_events (
    projection     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    tenant_code    VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_type VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_id   CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    seq_nr         BIGINT      NOT NULL,
    event_id       VARCHAR(64) NOT NULL,
    cause          TEXT        NOT NULL,
    reason         TEXT        NOT NULL,
    skipped_by     VARCHAR(255) NOT NULL,
    skipped_at     BIGINT      NOT NULL,
    PRIMARY KEY (projection, tenant_code, aggregate_type, aggregate_id, seq_nr)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS skipped_events;
