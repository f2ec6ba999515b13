-- Codes of threads, on SQLite. The same as in ../mysql, where they are explained.

-- +goose Up
ALTER TABLE threads ADD COLUMN code TEXT NOT NULL DEFAULT '';
CREATE INDEX threads_code ON threads (tenant_code, code);

-- +goose Down
DROP INDEX threads_code;
ALTER TABLE threads DROP COLUMN code;
