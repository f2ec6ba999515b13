-- The executors and sources of each row's creation and last change. The same as in ../mysql.
--
-- Existing rows get approximate values: a thread was created by its owner, and a message was posted by its sender. The
-- other values are set when the rows are rebuilt, which the handler's new version requires.

-- +goose Up
ALTER TABLE threads ADD COLUMN created_by TEXT NOT NULL DEFAULT '';
ALTER TABLE threads ADD COLUMN updated_by TEXT NOT NULL DEFAULT '';
ALTER TABLE threads ADD COLUMN created_ip TEXT NOT NULL DEFAULT '';
ALTER TABLE threads ADD COLUMN updated_ip TEXT NOT NULL DEFAULT '';
ALTER TABLE threads ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
ALTER TABLE threads ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE members ADD COLUMN created_by TEXT NOT NULL DEFAULT '';
ALTER TABLE members ADD COLUMN updated_by TEXT NOT NULL DEFAULT '';
ALTER TABLE members ADD COLUMN created_ip TEXT NOT NULL DEFAULT '';
ALTER TABLE members ADD COLUMN updated_ip TEXT NOT NULL DEFAULT '';
ALTER TABLE members ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
ALTER TABLE members ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN created_by TEXT NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN updated_by TEXT NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN created_ip TEXT NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN updated_ip TEXT NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN source TEXT NOT NULL DEFAULT '';
UPDATE threads SET created_by = owner_id, updated_by = owner_id;
UPDATE members SET created_by = user_account_id, updated_by = user_account_id;
UPDATE messages SET created_by = user_account_id, updated_by = user_account_id;

-- +goose Down
ALTER TABLE threads DROP COLUMN created_by;
ALTER TABLE threads DROP COLUMN updated_by;
ALTER TABLE threads DROP COLUMN created_ip;
ALTER TABLE threads DROP COLUMN updated_ip;
ALTER TABLE threads DROP COLUMN request_id;
ALTER TABLE threads DROP COLUMN source;
ALTER TABLE members DROP COLUMN created_by;
ALTER TABLE members DROP COLUMN updated_by;
ALTER TABLE members DROP COLUMN created_ip;
ALTER TABLE members DROP COLUMN updated_ip;
ALTER TABLE members DROP COLUMN request_id;
ALTER TABLE members DROP COLUMN source;
ALTER TABLE messages DROP COLUMN created_by;
ALTER TABLE messages DROP COLUMN updated_by;
ALTER TABLE messages DROP COLUMN created_ip;
ALTER TABLE messages DROP COLUMN updated_ip;
ALTER TABLE messages DROP COLUMN request_id;
ALTER TABLE messages DROP COLUMN source;
