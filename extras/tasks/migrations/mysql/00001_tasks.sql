-- The rows of tasks, on MySQL and MariaDB. The same as in ../sqlite.

-- +goose Up
-- version is the seq_nr of the last event in the row.
CREATE TABLE IF NOT EXISTS tasks (
    tenant_code VARCHAR(32)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    id          CHAR(26)      CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    kind        VARCHAR(32)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    status      VARCHAR(16)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    done        BIGINT        NOT NULL,
    total       BIGINT        NOT NULL, -- 0: unknown
    rejected    BIGINT        NOT NULL,
    message     VARCHAR(1000) NOT NULL, -- why it failed; otherwise empty
    created_by  CHAR(26)      CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    updated_by  CHAR(26)      CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    created_ip  VARCHAR(255)  NOT NULL DEFAULT '',
    updated_ip  VARCHAR(255)  NOT NULL DEFAULT '',
    request_id  VARCHAR(255)  NOT NULL DEFAULT '',
    source      VARCHAR(255)  NOT NULL DEFAULT '',
    version     BIGINT        NOT NULL,
    created_at  BIGINT        NOT NULL,
    updated_at  BIGINT        NOT NULL,
    PRIMARY KEY (tenant_code, id),
    INDEX tasks_of_creator (tenant_code, created_by, created_at, id),
    INDEX tasks_to_do (status, created_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS tasks;
DROP TABLE IF EXISTS tasks_next;
DROP TABLE IF EXISTS tasks_old;
