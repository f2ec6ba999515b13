-- The read model, on MySQL and MariaDB. The same tables as in ../sqlite.
--
-- Times are microseconds since 1970-01-01 UTC. Every row belongs to a tenant. Deleted and removed things keep
-- their rows: a thread's row keeps its version, and a list can be continued after a deleted row.
-- Every statement can be repeated after a later one failed, because a transaction does not roll DDL back.

-- +goose Up

-- version is the seq_nr of the last event in the thread's rows; all of them change together with it. When a thread is
-- deleted, its members and messages keep their rows unchanged; queries check the thread's row first.
CREATE TABLE IF NOT EXISTS threads (
    tenant_code VARCHAR(32)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    id          CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    name        VARCHAR(512) NOT NULL,
    owner_id    CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    version     BIGINT       NOT NULL,
    deleted     BOOLEAN      NOT NULL,
    created_at  BIGINT       NOT NULL,
    updated_at  BIGINT       NOT NULL, -- of the last event
    created_by  CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '', -- executors and sources of the first and the last event in the row
    updated_by  CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    created_ip  VARCHAR(255) NOT NULL DEFAULT '',
    updated_ip  VARCHAR(255) NOT NULL DEFAULT '',
    request_id  VARCHAR(255) NOT NULL DEFAULT '',
    source      VARCHAR(255) NOT NULL DEFAULT '',
    code        VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '', -- for people; empty: the thread has none
    PRIMARY KEY (tenant_code, id),
    INDEX threads_code (tenant_code, code),
    INDEX threads_by_change (tenant_code, deleted, updated_at, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- A membership. A user who leaves and joins again gets a new one with a new id.
CREATE TABLE IF NOT EXISTS members (
    tenant_code     VARCHAR(32)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    id              CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    thread_id       CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    user_account_id CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    role            VARCHAR(16)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    joined_seq      BIGINT       NOT NULL, -- seq_nr of the event that added the member
    removed         BOOLEAN      NOT NULL,
    created_at      BIGINT       NOT NULL,
    updated_at      BIGINT       NOT NULL,
    created_by      CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '', -- executors and sources of the first and the last event in the row
    updated_by      CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    created_ip      VARCHAR(255) NOT NULL DEFAULT '',
    updated_ip      VARCHAR(255) NOT NULL DEFAULT '',
    request_id      VARCHAR(255) NOT NULL DEFAULT '',
    source          VARCHAR(255) NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_code, id),
    INDEX members_of_thread (tenant_code, thread_id, removed, joined_seq),
    INDEX members_of_user (tenant_code, user_account_id, removed, thread_id),
    INDEX members_of_thread_and_user (tenant_code, thread_id, user_account_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- A message. A deleted one has no text.
CREATE TABLE IF NOT EXISTS messages (
    tenant_code     VARCHAR(32)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    id              CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    thread_id       CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    user_account_id CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    text            TEXT         NOT NULL,
    seq_nr          BIGINT       NOT NULL, -- of the event that posted it
    deleted         BOOLEAN      NOT NULL,
    created_at      BIGINT       NOT NULL,
    updated_at      BIGINT       NOT NULL,
    created_by      CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '', -- executors and sources of the first and the last event in the row
    updated_by      CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    created_ip      VARCHAR(255) NOT NULL DEFAULT '',
    updated_ip      VARCHAR(255) NOT NULL DEFAULT '',
    request_id      VARCHAR(255) NOT NULL DEFAULT '',
    source          VARCHAR(255) NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_code, id),
    INDEX messages_of_thread (tenant_code, thread_id, deleted, seq_nr)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- version is the seq_nr of the last event in the row.
CREATE TABLE IF NOT EXISTS accounts (
    tenant_code VARCHAR(32)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    id          CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    name        VARCHAR(512) NOT NULL,
    closed      BOOLEAN      NOT NULL,
    version     BIGINT       NOT NULL,
    created_at  BIGINT       NOT NULL,
    updated_at  BIGINT       NOT NULL,
    created_by  CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    updated_by  CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    created_ip  VARCHAR(255) NOT NULL DEFAULT '',
    updated_ip  VARCHAR(255) NOT NULL DEFAULT '',
    request_id  VARCHAR(255) NOT NULL DEFAULT '',
    source      VARCHAR(255) NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_code, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What leave-on-close knows of user accounts that are or were members. The row is also the lock of the account's
-- memberships. closed_by is the event that closed the account; empty: it is open.
CREATE TABLE IF NOT EXISTS leave_on_close_accounts (
    tenant_code    VARCHAR(32)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    account_id     CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    closed_by      VARCHAR(26)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    correlation_id VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- of that event
    PRIMARY KEY (tenant_code, account_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The threads that each user account is a member of.
CREATE TABLE IF NOT EXISTS leave_on_close_memberships (
    tenant_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    account_id  CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    thread_id   CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    PRIMARY KEY (tenant_code, account_id, thread_id),
    INDEX leave_on_close_memberships_of_thread (tenant_code, thread_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS leave_on_close_memberships;
DROP TABLE IF EXISTS leave_on_close_accounts;
DROP TABLE IF EXISTS accounts;
DROP TABLE IF EXISTS accounts_next;
DROP TABLE IF EXISTS accounts_old;
DROP TABLE IF EXISTS messages;
DROP TABLE IF EXISTS messages_next;
DROP TABLE IF EXISTS messages_old;
DROP TABLE IF EXISTS members;
DROP TABLE IF EXISTS members_next;
DROP TABLE IF EXISTS members_old;
DROP TABLE IF EXISTS threads;
DROP TABLE IF EXISTS threads_next;
DROP TABLE IF EXISTS threads_old;
