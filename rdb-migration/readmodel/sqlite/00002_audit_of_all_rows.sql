-- The executors and sources of the first and the last event in the rows of accounts and tenants, on
-- SQLite. The same as in ../mysql.
--
-- Existing rows get approximate values: an account was registered by itself. The other values are set
-- when the rows are rebuilt, which the handlers' new versions require.

-- +goose Up
ALTER TABLE accounts ADD COLUMN created_by TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN updated_by TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN created_ip TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN updated_ip TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE tenants ADD COLUMN created_by TEXT NOT NULL DEFAULT '';
ALTER TABLE tenants ADD COLUMN updated_by TEXT NOT NULL DEFAULT '';
ALTER TABLE tenants ADD COLUMN created_ip TEXT NOT NULL DEFAULT '';
ALTER TABLE tenants ADD COLUMN updated_ip TEXT NOT NULL DEFAULT '';
ALTER TABLE tenants ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
ALTER TABLE tenants ADD COLUMN source TEXT NOT NULL DEFAULT '';
UPDATE accounts SET created_by = id, updated_by = id;

-- +goose Down
ALTER TABLE accounts DROP COLUMN created_by;
ALTER TABLE accounts DROP COLUMN updated_by;
ALTER TABLE accounts DROP COLUMN created_ip;
ALTER TABLE accounts DROP COLUMN updated_ip;
ALTER TABLE accounts DROP COLUMN request_id;
ALTER TABLE accounts DROP COLUMN source;
ALTER TABLE tenants DROP COLUMN created_by;
ALTER TABLE tenants DROP COLUMN updated_by;
ALTER TABLE tenants DROP COLUMN created_ip;
ALTER TABLE tenants DROP COLUMN updated_ip;
ALTER TABLE tenants DROP COLUMN request_id;
ALTER TABLE tenants DROP COLUMN source;
