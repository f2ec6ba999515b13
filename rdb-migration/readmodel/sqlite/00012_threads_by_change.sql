-- The threads of a tenant in the order of their last change, on SQLite. The same as in ../mysql.

-- +goose Up
CREATE INDEX threads_by_change ON threads (tenant_code, deleted, updated_at, id);

-- +goose Down
DROP INDEX threads_by_change;
