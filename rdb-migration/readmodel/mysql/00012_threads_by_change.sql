-- The threads of a tenant in the order of their last change, on MySQL and MariaDB. The same as in ../sqlite.

-- +goose Up
SET @change = IF((SELECT COUNT(*) FROM information_schema.statistics
    WHERE table_schema = DATABASE() AND table_name = 'threads' AND index_name = 'threads_by_change') > 0, 'DO 0',
    'CREATE INDEX threads_by_change ON threads (tenant_code, deleted, updated_at, id)');
PREPARE add_threads_by_change FROM @change;
EXECUTE add_threads_by_change;
DEALLOCATE PREPARE add_threads_by_change;

-- +goose Down
DROP INDEX threads_by_change ON threads;
