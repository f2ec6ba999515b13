-- The event store, on MySQL and MariaDB. The same tables as in ../sqlite.
--
-- Times are microseconds since 1970-01-01 UTC. Every row belongs to a tenant: the same aggregate_id under another
-- tenant is another aggregate, so every key begins with the tenant. Events are never changed, and deleted only once an archive has them.
-- Every statement can be repeated after a later one failed, because a transaction does not roll DDL back.

-- +goose Up

-- version is the version of the aggregate's last event. It is the optimistic lock: writers compare it with the version
-- that they expect.
CREATE TABLE IF NOT EXISTS aggregates (
    tenant_code      VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_id     VARCHAR(96) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- <type>-<ulid>
    type             VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    version          BIGINT      NOT NULL,
    snapshot_version BIGINT      NOT NULL, -- of the latest snapshot; 0: only the state after event 1
    created_at       BIGINT      NOT NULL,
    PRIMARY KEY (tenant_code, aggregate_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- sequence_number orders the events of all aggregates and makes the event store a queue. A failed transaction leaves
-- its numbers unused; event_queue tells them from numbers that will still become visible.
CREATE TABLE IF NOT EXISTS events (
    sequence_number BIGINT       NOT NULL AUTO_INCREMENT,
    tenant_code     VARCHAR(32)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_type  VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_id    VARCHAR(96)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    version         BIGINT       NOT NULL, -- 1, 2, 3 ... within the aggregate
    event_id        VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    command_id      VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NULL, -- of a command's first event
    correlation_id  VARCHAR(255) NOT NULL,
    user_id         VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    event_type      VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    event_content   MEDIUMTEXT   NOT NULL, -- the complete event, JSON, byte for byte
    occurred_at     BIGINT       NOT NULL,
    PRIMARY KEY (sequence_number),
    UNIQUE INDEX events_version (tenant_code, aggregate_id, version),
    UNIQUE INDEX events_command (tenant_code, command_id, aggregate_id),
    FOREIGN KEY (tenant_code, aggregate_id) REFERENCES aggregates (tenant_code, aggregate_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- There is no foreign key: it would lock the aggregate, and block its commands, while a large snapshot is written.
CREATE TABLE IF NOT EXISTS snapshots (
    tenant_code    VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_id   VARCHAR(96) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    version        BIGINT      NOT NULL, -- of the aggregate, after which it has this state
    aggregate_type VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    encoding       VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    checksum       CHAR(64)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- SHA-256 of snapshot
    snapshot       LONGBLOB    NOT NULL,
    created_at     BIGINT      NOT NULL,
    PRIMARY KEY (tenant_code, aggregate_id, version)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The answers to commands with an idempotency key. A repeated command that creates an aggregate is found
-- here and not in the aggregate's events, because the repeat does not know the aggregate's id.
CREATE TABLE IF NOT EXISTS receipts (
    tenant_code VARCHAR(32)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    command_id  VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    fingerprint VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    answer      BLOB         NOT NULL,
    expires_at  BIGINT       NOT NULL,
    PRIMARY KEY (tenant_code, command_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- One row. store_id identifies this event store. A transaction that adds events holds a shared lock on the row from
-- before it gets its sequence numbers until it ends. An exclusive lock therefore proves that none is in progress.
CREATE TABLE IF NOT EXISTS event_queue (
    id       TINYINT  NOT NULL,
    store_id CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
INSERT IGNORE INTO event_queue (id, store_id) VALUES (1, UUID());

-- +goose Down
DROP TABLE IF EXISTS event_queue;
DROP TABLE IF EXISTS receipts;
DROP TABLE IF EXISTS snapshots;
DROP TABLE IF EXISTS events;
DROP TABLE IF EXISTS aggregates;
