-- The failures of process managers' commands, and the commands that an operator has skipped, on MySQL and MariaDB. The
-- same as in ../sqlite.

-- +goose Up
-- The time of the command's first failure; 0: it has not failed, or the time is unknown.
SET @change = IF((SELECT COUNT(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'process_commands' AND column_name = 'failing_since') > 0, 'DO 0',
    'ALTER TABLE process_commands ADD COLUMN failing_since BIGINT NOT NULL DEFAULT 0');
PREPARE change_process_commands FROM @change;
EXECUTE change_process_commands;
DEALLOCATE PREPARE change_process_commands;

-- cause is why the command failed; reason is the operator's reason to skip it.
CREATE TABLE IF NOT EXISTS skipped_commands (
    process        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    tenant_code    VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_type VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- of the command's target
    aggregate_id   CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    event_id       CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- whose projection created it
    name           VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    executor_id    CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    cause          TEXT        NOT NULL,
    reason         TEXT        NOT NULL,
    skipped_by     VARCHAR(255) NOT NULL,
    skipped_at     BIGINT      NOT NULL,
    PRIMARY KEY (process, tenant_code, aggregate_type, aggregate_id, event_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS skipped_commands;
ALTER TABLE process_commands DROP COLUMN failing_since;
