-- Accounts, and the tables of process managers, on MySQL and MariaDB. The same as in ../sqlite.

-- +goose Up

-- version is the seq_nr of the last event in the row.
CREATE TABLE IF NOT EXISTS accounts (
    tenant_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    id          CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    name        VARCHAR(64) NOT NULL,
    closed      BOOLEAN     NOT NULL,
    version     BIGINT      NOT NULL,
    created_at  BIGINT      NOT NULL,
    updated_at  BIGINT      NOT NULL,
    PRIMARY KEY (tenant_code, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The outbox of process managers. Sent commands are removed. A command with attempts failed the last time, for the
-- stored reason, and is retried at due_at.
CREATE TABLE IF NOT EXISTS process_commands (
    process        VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    tenant_code    VARCHAR(32)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_type VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- of the command's target
    aggregate_id   CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    event_id       CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- whose projection created it
    name           VARCHAR(64)  CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    executor_id    CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    causation_id   CHAR(26)     CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- the event that caused the command
    correlation_id VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    attempts       BIGINT       NOT NULL,
    reason         VARCHAR(2000) NOT NULL,
    due_at         BIGINT       NOT NULL,
    PRIMARY KEY (process, tenant_code, aggregate_type, aggregate_id, event_id),
    INDEX process_commands_due (process, due_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What leave-on-close knows of user accounts that are or were members. The row is also the lock of the account's
-- memberships. closed_by is the event that closed the account; empty: it is open.
CREATE TABLE IF NOT EXISTS leave_on_close_accounts (
    tenant_code    VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    account_id     CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    closed_by      VARCHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
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
DROP TABLE IF EXISTS process_commands;
DROP TABLE IF EXISTS accounts;
