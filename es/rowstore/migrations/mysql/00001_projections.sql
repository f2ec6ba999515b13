-- Positions, checkpoints, dead letters and rebuilds of projections, and the commands of process managers, on MySQL and
-- MariaDB. The same tables as in ../sqlite. Times are microseconds since 1970-01-01 UTC.
-- Every statement can be repeated after a later one failed, because a transaction does not roll DDL back.

-- +goose Up

-- The position of each aggregate in each projection: the seq_nr of the last event in its rows, which change together
-- with it. The row is also the lock for everything of the aggregate, so a parked aggregate has one, possibly at 0.
CREATE TABLE IF NOT EXISTS projection_positions (
    projection     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    tenant_code    VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_type VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_id   CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    version        BIGINT      NOT NULL,
    parked         BOOLEAN     NOT NULL, -- there is a dead letter
    PRIMARY KEY (projection, tenant_code, aggregate_type, aggregate_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The position up to which a projection has read each shard of each source.
CREATE TABLE IF NOT EXISTS checkpoints (
    projection VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    source     VARCHAR(255)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    shard      VARCHAR(128)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    position   VARCHAR(1024) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    updated_at BIGINT        NOT NULL,
    PRIMARY KEY (projection, source, shard)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The aggregate types that a projection has seen. An incomplete type has events that are not projected: a program that
-- did not know the type skipped them (first_id is the first aggregate), or a repair is due.
CREATE TABLE IF NOT EXISTS projection_types (
    projection        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_type    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    complete          BOOLEAN     NOT NULL,
    first_tenant_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    first_id          VARCHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    updated_at        BIGINT      NOT NULL,
    PRIMARY KEY (projection, aggregate_type)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The progress of each projection, as its program last reported. caught_up is true once every event was projected.
CREATE TABLE IF NOT EXISTS projection_reports (
    projection     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    caught_up      BOOLEAN     NOT NULL,
    behind_micros  BIGINT      NOT NULL,
    behind_records BIGINT      NOT NULL,
    at_least       BOOLEAN     NOT NULL,
    reported_at    BIGINT      NOT NULL,
    PRIMARY KEY (projection)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The parked aggregates: the event that cannot be projected, and when it is retried.
CREATE TABLE IF NOT EXISTS dead_letters (
    projection     VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    tenant_code    VARCHAR(32)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_type VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_id   CHAR(26)      CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    seq_nr         BIGINT        NOT NULL,
    event_id       VARCHAR(64)   NOT NULL, -- empty if it could not be read
    payload        MEDIUMBLOB    NOT NULL, -- as stored in the journal; empty if it could be decoded
    reason         VARCHAR(2000) NOT NULL,
    attempts       INT           NOT NULL,
    parked_at      BIGINT        NOT NULL,
    retry_at       BIGINT        NOT NULL,
    PRIMARY KEY (projection, tenant_code, aggregate_type, aggregate_id),
    INDEX dead_letters_due (projection, retry_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- cause is why the event could not be projected; reason is the operator's reason to skip it.
CREATE TABLE IF NOT EXISTS skipped_events (
    projection     VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    tenant_code    VARCHAR(32)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_type VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_id   CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    seq_nr         BIGINT       NOT NULL,
    event_id       VARCHAR(64)  NOT NULL,
    cause          TEXT         NOT NULL,
    reason         TEXT         NOT NULL,
    skipped_by     VARCHAR(255) NOT NULL,
    skipped_at     BIGINT       NOT NULL,
    PRIMARY KEY (projection, tenant_code, aggregate_type, aggregate_id, seq_nr)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The name under which the live rows' positions and dead letters are stored, if it is not the projection's own, and the
-- versions of the handlers that made the rows. The switch of a rebuild changes it together with the tables.
CREATE TABLE IF NOT EXISTS row_sets (
    projection VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    set_name   VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    handlers   VARCHAR(1024) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- "<aggregate type>=<version>", separated by commas
    PRIMARY KEY (projection)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The latest rebuild of each projection. It has ended when phase is done or cancelled.
CREATE TABLE IF NOT EXISTS projection_rebuilds (
    projection   VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    generation   BIGINT        NOT NULL, -- number of the rebuild
    set_name     VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    handlers     VARCHAR(1024) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    phase        VARCHAR(16)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    events_done  BIGINT        NOT NULL,
    events_total BIGINT        NOT NULL, -- as far as known
    cancelled    BOOLEAN       NOT NULL, -- an operator has requested its end
    failure      VARCHAR(2000) NOT NULL, -- why it stopped the last time; empty: no failure
    started_at   BIGINT        NOT NULL,
    updated_at   BIGINT        NOT NULL, -- updated every second while the rebuild runs
    PRIMARY KEY (projection)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- One row. Every transaction on rows takes a shared lock on it; the switch of a rebuild locks it exclusively. term is
-- the number of the current turn: an updater with an earlier term can't write.
CREATE TABLE IF NOT EXISTS projection_turn (
    id     INT          NOT NULL,
    term   BIGINT       NOT NULL,
    holder VARCHAR(255) NOT NULL, -- the last process with the turn
    since  BIGINT       NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
INSERT IGNORE INTO projection_turn VALUES (1, 0, '', 0);

-- The outbox of process managers. Sent commands are removed. A command with attempts failed the last time, for the
-- stored reason, and is retried at due_at.
CREATE TABLE IF NOT EXISTS process_commands (
    process        VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    tenant_code    VARCHAR(32)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_type VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- of the command's target
    aggregate_id   CHAR(26)      CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    event_id       CHAR(26)      CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- whose projection created it
    name           VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    executor_id    CHAR(26)      CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    causation_id   CHAR(26)      CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- the event that caused the command
    correlation_id VARCHAR(128)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    attempts       BIGINT        NOT NULL,
    reason         VARCHAR(2000) NOT NULL,
    due_at         BIGINT        NOT NULL,
    failing_since  BIGINT        NOT NULL DEFAULT 0, -- the time of the command's first failure; 0: it has not failed
    PRIMARY KEY (process, tenant_code, aggregate_type, aggregate_id, event_id),
    INDEX process_commands_due (process, due_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- cause is why the command failed; reason is the operator's reason to skip it.
CREATE TABLE IF NOT EXISTS skipped_commands (
    process        VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    tenant_code    VARCHAR(32)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_type VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- of the command's target
    aggregate_id   CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    event_id       CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- whose projection created it
    name           VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    executor_id    CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    cause          TEXT         NOT NULL,
    reason         TEXT         NOT NULL,
    skipped_by     VARCHAR(255) NOT NULL,
    skipped_at     BIGINT       NOT NULL,
    PRIMARY KEY (process, tenant_code, aggregate_type, aggregate_id, event_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

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
