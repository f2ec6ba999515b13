-- Positions, checkpoints and dead letters by projection and aggregate, on MySQL and MariaDB. The same as in ../sqlite.
--
-- The first two statements stop an updater of the previous version from writing, because it uses columns that no longer
-- exist. So nothing changes while the positions are copied. Every statement can be repeated after a later one failed.

-- +goose Up
SET @change = IF((SELECT COUNT(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'dead_letters' AND column_name = 'thread_id') = 0, 'DO 0',
    "ALTER TABLE dead_letters
        ADD COLUMN projection VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'read-model' FIRST,
        ADD COLUMN aggregate_type VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'thread' AFTER tenant_code,
        CHANGE COLUMN thread_id aggregate_id CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
        DROP PRIMARY KEY, ADD PRIMARY KEY (projection, tenant_code, aggregate_type, aggregate_id),
        DROP INDEX dead_letters_due, ADD INDEX dead_letters_due (projection, retry_at)");
PREPARE change_dead_letters FROM @change;
EXECUTE change_dead_letters;
DEALLOCATE PREPARE change_dead_letters;

SET @change = IF((SELECT COUNT(*) FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = 'checkpoints' AND column_name = 'projection') > 0, 'DO 0',
    "ALTER TABLE checkpoints
        ADD COLUMN projection VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'read-model' FIRST,
        DROP PRIMARY KEY, ADD PRIMARY KEY (projection, source, shard)");
PREPARE change_checkpoints FROM @change;
EXECUTE change_checkpoints;
DEALLOCATE PREPARE change_checkpoints;

-- The position of each aggregate in each projection: the seq_nr of the last event in its rows, which change together
-- with it. The row is also the lock for everything of the aggregate, so a parked aggregate has one, possibly at 0.
CREATE TABLE IF NOT EXISTS projection_positions (
    projection     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    tenant_code    VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_type VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_id   CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    version        BIGINT      NOT NULL,
    parked         BOOLEAN     NOT NULL, -- there is a dead letter
    PRIMARY KEY (projection, tenant_code, aggregate_type, aggregate_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The aggregate types that a projection has seen. An incomplete type has events that are not projected: a program that
-- did not know the type skipped them (first_id is the first aggregate), or a repair is due.
CREATE TABLE IF NOT EXISTS projection_types (
    projection        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    aggregate_type    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    complete          BOOLEAN     NOT NULL,
    first_tenant_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    first_id          VARCHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    updated_at        BIGINT      NOT NULL,
    PRIMARY KEY (projection, aggregate_type)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The progress of each projection, as its program last reported. caught_up is true once every event was projected.
CREATE TABLE IF NOT EXISTS projection_reports (
    projection     VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    caught_up      BOOLEAN     NOT NULL,
    behind_micros  BIGINT      NOT NULL,
    behind_records BIGINT      NOT NULL,
    at_least       BOOLEAN     NOT NULL,
    reported_at    BIGINT      NOT NULL,
    PRIMARY KEY (projection)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

INSERT IGNORE INTO projection_positions SELECT 'read-model', t.tenant_code, 'thread', t.id, t.version, d.aggregate_id IS NOT NULL
    FROM threads t LEFT JOIN dead_letters d ON d.tenant_code = t.tenant_code AND d.aggregate_id = t.id;
INSERT IGNORE INTO projection_positions SELECT projection, tenant_code, aggregate_type, aggregate_id, 0, 1 FROM dead_letters;
-- If there are checkpoints, the read model is in use. Until now, a checkpoint stored the need for a repair.
INSERT IGNORE INTO projection_types SELECT 'read-model', 'thread',
    NOT EXISTS (SELECT 1 FROM checkpoints WHERE shard = 'repair' AND position = 'due'), '', '', 0 FROM checkpoints LIMIT 1;
INSERT IGNORE INTO projection_reports SELECT 'read-model', 1, 0, 0, 1, 0 FROM checkpoints LIMIT 1;
DELETE FROM checkpoints WHERE shard = 'repair';

-- +goose Down
DROP TABLE IF EXISTS projection_reports;
DROP TABLE IF EXISTS projection_types;
DROP TABLE IF EXISTS projection_positions;
DELETE FROM checkpoints WHERE projection <> 'read-model';
ALTER TABLE checkpoints DROP PRIMARY KEY, ADD PRIMARY KEY (source, shard), DROP COLUMN projection;
DELETE FROM dead_letters WHERE projection <> 'read-model' OR aggregate_type <> 'thread';
ALTER TABLE dead_letters DROP PRIMARY KEY, ADD PRIMARY KEY (tenant_code, thread_id),
    DROP INDEX dead_letters_due, ADD INDEX dead_letters_due (retry_at), DROP COLUMN projection, DROP COLUMN aggregate_type,
    CHANGE COLUMN aggregate_id thread_id CHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL;
