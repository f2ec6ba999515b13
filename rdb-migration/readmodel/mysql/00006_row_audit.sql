-- The executors and sources of each row's creation and last change. The same as in ../sqlite.
--
-- Existing rows get approximate values: a thread was created by its owner, and a message was posted by its sender. The
-- other values are set when the rows are rebuilt, which the handler's new version requires.

-- +goose Up
ALTER TABLE threads
    ADD COLUMN created_by CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    ADD COLUMN updated_by CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    ADD COLUMN created_ip VARCHAR(255) NOT NULL DEFAULT '',
    ADD COLUMN updated_ip VARCHAR(255) NOT NULL DEFAULT '',
    ADD COLUMN request_id VARCHAR(255) NOT NULL DEFAULT '',
    ADD COLUMN source VARCHAR(255) NOT NULL DEFAULT '';
ALTER TABLE members
    ADD COLUMN created_by CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    ADD COLUMN updated_by CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    ADD COLUMN created_ip VARCHAR(255) NOT NULL DEFAULT '',
    ADD COLUMN updated_ip VARCHAR(255) NOT NULL DEFAULT '',
    ADD COLUMN request_id VARCHAR(255) NOT NULL DEFAULT '',
    ADD COLUMN source VARCHAR(255) NOT NULL DEFAULT '';
ALTER TABLE messages
    ADD COLUMN created_by CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    ADD COLUMN updated_by CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    ADD COLUMN created_ip VARCHAR(255) NOT NULL DEFAULT '',
    ADD COLUMN updated_ip VARCHAR(255) NOT NULL DEFAULT '',
    ADD COLUMN request_id VARCHAR(255) NOT NULL DEFAULT '',
    ADD COLUMN source VARCHAR(255) NOT NULL DEFAULT '';
UPDATE threads SET created_by = owner_id, updated_by = owner_id;
UPDATE members SET created_by = user_account_id, updated_by = user_account_id;
UPDATE messages SET created_by = user_account_id, updated_by = user_account_id;

-- +goose Down
ALTER TABLE threads
    DROP COLUMN created_by,
    DROP COLUMN updated_by,
    DROP COLUMN created_ip,
    DROP COLUMN updated_ip,
    DROP COLUMN request_id,
    DROP COLUMN source;
ALTER TABLE members
    DROP COLUMN created_by,
    DROP COLUMN updated_by,
    DROP COLUMN created_ip,
    DROP COLUMN updated_ip,
    DROP COLUMN request_id,
    DROP COLUMN source;
ALTER TABLE messages
    DROP COLUMN created_by,
    DROP COLUMN updated_by,
    DROP COLUMN created_ip,
    DROP COLUMN updated_ip,
    DROP COLUMN request_id,
    DROP COLUMN source;
