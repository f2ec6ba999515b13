-- The read model, on MySQL and MariaDB. The same tables as in ../sqlite.
--
-- Times are microseconds since 1970-01-01 UTC. Every row belongs to a tenant. Deleted and removed things keep
-- their rows: a thread's row keeps its version, and a list can be continued after a deleted row.
-- Every statement can be repeated after a later one failed, because a transaction does not roll DDL back.

-- +goose Up

-- version is the seq_nr of the last event in the thread's rows; all of them change together with it. When a thread is
-- deleted, its members and messages keep their rows unchanged; queries check the thread's row first.
CREATE TABLE IF NOT EXISTS threads (
    tenant_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    id          CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    name        VARCHAR(64) NOT NULL,
    owner_id    CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    version     BIGINT      NOT NULL,
    deleted     BOOLEAN     NOT NULL,
    created_at  BIGINT      NOT NULL,
    updated_at  BIGINT      NOT NULL, -- of the last event
    PRIMARY KEY (tenant_code, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- A membership. A user who leaves and joins again gets a new one with a new id.
CREATE TABLE IF NOT EXISTS members (
    tenant_code     VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    id              CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    thread_id       CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    user_account_id CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    role            VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    joined_seq      BIGINT      NOT NULL, -- seq_nr of the event that added the member
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
    seq_nr          BIGINT        NOT NULL, -- of the event that posted it
    deleted         BOOLEAN       NOT NULL,
    created_at      BIGINT        NOT NULL,
    updated_at      BIGINT        NOT NULL,
    PRIMARY KEY (tenant_code, id),
    INDEX messages_of_thread (tenant_code, thread_id, deleted, seq_nr)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The position up to which each shard of each source is projected.
CREATE TABLE IF NOT EXISTS checkpoints (
    source     VARCHAR(255)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    shard      VARCHAR(128)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    position   VARCHAR(1024) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    updated_at BIGINT        NOT NULL,
    PRIMARY KEY (source, shard)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The parked threads: the event that cannot be projected, and when it is retried.
CREATE TABLE IF NOT EXISTS dead_letters (
    tenant_code VARCHAR(32)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    thread_id   CHAR(26)      CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    seq_nr      BIGINT        NOT NULL,
    event_id    VARCHAR(64)   NOT NULL, -- empty if it could not be read
    payload     MEDIUMBLOB    NOT NULL, -- as stored in the journal; empty if it could be decoded
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
