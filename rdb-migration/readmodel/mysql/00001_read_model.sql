-- The read model, on MySQL and MariaDB. The same tables as in ../sqlite.
--
-- Times are microseconds since 1970-01-01 UTC. Every row belongs to a tenant. Rows stay when what they stand for has
-- gone (deleted, removed): a thread's row keeps its version, and a list can be continued after a row that has gone.
-- A statement may run again after one that failed further down, because DDL is not taken back with a transaction.

-- +goose Up

-- version is the seq_nr of the last event that is in the rows of the thread: all of its rows change together with it.
-- What belongs to a deleted thread keeps its rows as they were; a query looks at the thread's first.
CREATE TABLE IF NOT EXISTS threads (
    tenant_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    id          CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    name        VARCHAR(64) NOT NULL,
    owner_id    CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    version     BIGINT      NOT NULL,
    deleted     BOOLEAN     NOT NULL,
    created_at  BIGINT      NOT NULL,
    updated_at  BIGINT      NOT NULL, -- of the last event, whatever it was
    PRIMARY KEY (tenant_code, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- A membership. Who leaves and joins again has a new one, with a new id.
CREATE TABLE IF NOT EXISTS members (
    tenant_code     VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    id              CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    thread_id       CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    user_account_id CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    role            VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    joined_seq      BIGINT      NOT NULL, -- seq_nr of the event that let the member in
    removed         BOOLEAN     NOT NULL,
    created_at      BIGINT      NOT NULL,
    updated_at      BIGINT      NOT NULL,
    PRIMARY KEY (tenant_code, id),
    INDEX members_of_thread (tenant_code, thread_id, removed, joined_seq),
    INDEX members_of_user (tenant_code, user_account_id, removed, thread_id),
    INDEX members_of_thread_and_user (tenant_code, thread_id, user_account_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- A message. A deleted one has no text.
CREATE TABLE IF NOT EXISTS messages (
    tenant_code     VARCHAR(32)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    id              CHAR(26)      CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    thread_id       CHAR(26)      CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    user_account_id CHAR(26)      CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    text            VARCHAR(4000) NOT NULL,
    seq_nr          BIGINT        NOT NULL, -- of its posting
    deleted         BOOLEAN       NOT NULL,
    created_at      BIGINT        NOT NULL,
    updated_at      BIGINT        NOT NULL,
    PRIMARY KEY (tenant_code, id),
    INDEX messages_of_thread (tenant_code, thread_id, deleted, seq_nr)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- How far each shard of each source of events is in the rows.
CREATE TABLE IF NOT EXISTS checkpoints (
    source     VARCHAR(255)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    shard      VARCHAR(128)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    position   VARCHAR(1024) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    updated_at BIGINT        NOT NULL,
    PRIMARY KEY (source, shard)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The threads that are parked: the event that can't be projected, and when it is tried again.
CREATE TABLE IF NOT EXISTS dead_letters (
    tenant_code VARCHAR(32)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    thread_id   CHAR(26)      CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    seq_nr      BIGINT        NOT NULL,
    event_id    VARCHAR(64)   NOT NULL, -- as far as it could be read
    payload     MEDIUMBLOB    NOT NULL, -- as it stands in the journal; empty where that could be read
    reason      VARCHAR(2000) NOT NULL,
    attempts    INT           NOT NULL,
    parked_at   BIGINT        NOT NULL,
    retry_at    BIGINT        NOT NULL,
    PRIMARY KEY (tenant_code, thread_id),
    INDEX dead_letters_due (retry_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS dead_letters;
DROP TABLE IF EXISTS checkpoints;
DROP TABLE IF EXISTS messages;
DROP TABLE IF EXISTS members;
DROP TABLE IF EXISTS threads;
