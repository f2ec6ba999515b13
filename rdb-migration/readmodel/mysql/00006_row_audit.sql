-- Who made each row and who changed it last, and where from. The same as in ../sqlite.
--
-- What is there says it as far as it can: a thread's owner created it, and a message's sender posted it. The rest is
-- right once the rows are rebuilt, which the handler's version asks for.

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
