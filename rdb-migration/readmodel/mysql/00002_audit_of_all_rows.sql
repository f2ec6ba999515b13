-- The executors and sources of the first and the last event in the rows of accounts and tenants, on
-- MySQL and MariaDB. The same as in ../sqlite.
--
-- Existing rows get approximate values: an account was registered by itself. The other values are set
-- when the rows are rebuilt, which the handlers' new versions require.

-- +goose Up
SET @change = IF((SELECT COUNT(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'accounts' AND column_name = 'updated_by') > 0, 'DO 0',
    'ALTER TABLE accounts
        ADD COLUMN created_by CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '''',
        ADD COLUMN updated_by CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '''',
        ADD COLUMN created_ip VARCHAR(255) NOT NULL DEFAULT '''',
        ADD COLUMN updated_ip VARCHAR(255) NOT NULL DEFAULT '''',
        ADD COLUMN request_id VARCHAR(255) NOT NULL DEFAULT '''',
        ADD COLUMN source VARCHAR(255) NOT NULL DEFAULT ''''');
PREPARE change_accounts FROM @change;
EXECUTE change_accounts;
DEALLOCATE PREPARE change_accounts;
SET @change = IF((SELECT COUNT(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'tenants' AND column_name = 'updated_by') > 0, 'DO 0',
    'ALTER TABLE tenants
        ADD COLUMN created_by CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '''',
        ADD COLUMN updated_by CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '''',
        ADD COLUMN created_ip VARCHAR(255) NOT NULL DEFAULT '''',
        ADD COLUMN updated_ip VARCHAR(255) NOT NULL DEFAULT '''',
        ADD COLUMN request_id VARCHAR(255) NOT NULL DEFAULT '''',
        ADD COLUMN source VARCHAR(255) NOT NULL DEFAULT ''''');
PREPARE change_tenants FROM @change;
EXECUTE change_tenants;
DEALLOCATE PREPARE change_tenants;
UPDATE accounts SET created_by = id, updated_by = id WHERE updated_by = '';

-- +goose Down
ALTER TABLE accounts
    DROP COLUMN created_by,
    DROP COLUMN updated_by,
    DROP COLUMN created_ip,
    DROP COLUMN updated_ip,
    DROP COLUMN request_id,
    DROP COLUMN source;
ALTER TABLE tenants
    DROP COLUMN created_by,
    DROP COLUMN updated_by,
    DROP COLUMN created_ip,
    DROP COLUMN updated_ip,
    DROP COLUMN request_id,
    DROP COLUMN source;
