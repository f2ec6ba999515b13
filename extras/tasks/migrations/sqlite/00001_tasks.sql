-- The rows of tasks, on SQLite. The same as in ../mysql.

-- +goose Up
CREATE TABLE IF NOT EXISTS tasks (
    tenant_code TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    status      TEXT    NOT NULL,
    done        INTEGER NOT NULL,
    total       INTEGER NOT NULL,
    rejected    INTEGER NOT NULL,
    message     TEXT    NOT NULL,
    created_by  TEXT    NOT NULL,
    updated_by  TEXT    NOT NULL DEFAULT '',
    created_ip  TEXT    NOT NULL DEFAULT '',
    updated_ip  TEXT    NOT NULL DEFAULT '',
    request_id  TEXT    NOT NULL DEFAULT '',
    source      TEXT    NOT NULL DEFAULT '',
    version     INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    PRIMARY KEY (tenant_code, id)
) STRICT;
CREATE INDEX IF NOT EXISTS tasks_of_creator ON tasks (tenant_code, created_by, created_at, id);
CREATE INDEX IF NOT EXISTS tasks_to_do ON tasks (status, created_at);

-- +goose Down
DROP TABLE IF EXISTS tasks;
DROP TABLE IF EXISTS tasks_next;
DROP TABLE IF EXISTS tasks_old;
