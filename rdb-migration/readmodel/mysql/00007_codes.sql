-- Codes of threads, on MySQL and MariaDB. The same as in ../sqlite.

-- +goose Up

-- code is the thread's short name for people; empty: the thread was created before codes existed.
ALTER TABLE threads
    ADD COLUMN code VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    ADD INDEX threads_code (tenant_code, code);

-- +goose Down
ALTER TABLE threads DROP INDEX threads_code, DROP COLUMN code;
