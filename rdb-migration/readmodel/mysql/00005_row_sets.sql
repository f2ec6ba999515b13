-- Sets of rows for rebuilds, and the turn to write them, on MySQL and MariaDB. The same as in ../sqlite.

-- +goose Up

-- The name under which the live rows' positions and dead letters are stored, if it is not the projection's own, and the
-- versions of the handlers that made the rows. The switch of a rebuild changes it together with the tables.
CREATE TABLE IF NOT EXISTS row_sets (
    projection VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    set_name   VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    handlers   VARCHAR(1024) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- "<aggregate type>=<version>", separated by commas
    PRIMARY KEY (projection)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The latest rebuild of each projection. It has ended when phase is done or cancelled.
CREATE TABLE IF NOT EXISTS projection_rebuilds (
    projection   VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    generation   BIGINT        NOT NULL, -- number of the rebuild
    set_name     VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    handlers     VARCHAR(1024) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    phase        VARCHAR(16)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    events_done  BIGINT        NOT NULL,
    events_total BIGINT        NOT NULL, -- as far as known
    cancelled    BOOLEAN       NOT NULL, -- an operator has requested its end
    failure      VARCHAR(2000) NOT NULL, -- why it stopped the last time; empty: no failure
    started_at   BIGINT        NOT NULL,
    updated_at   BIGINT        NOT NULL, -- updated every second while the rebuild runs
    PRIMARY KEY (projection)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- One row. Every transaction on rows takes a shared lock on it; the switch of a rebuild locks it exclusively. term is
-- the number of the current turn: an updater with an earlier term can't write.
CREATE TABLE IF NOT EXISTS projection_turn (
    id     INT          NOT NULL,
    term   BIGINT       NOT NULL,
    holder VARCHAR(255) NOT NULL, -- the last process with the turn
    since  BIGINT       NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
INSERT IGNORE INTO projection_turn VALUES (1, 0, '', 0);

-- +goose Down
-- The live rows keep their positions, under the projection's own name; all other sets are deleted.
DELETE p FROM projection_positions p JOIN row_sets r ON p.projection = r.projection WHERE r.set_name <> r.projection;
UPDATE projection_positions p JOIN row_sets r ON p.projection = r.set_name SET p.projection = r.projection;
DELETE FROM projection_positions WHERE projection LIKE '%@%';
DELETE d FROM dead_letters d JOIN row_sets r ON d.projection = r.projection WHERE r.set_name <> r.projection;
UPDATE dead_letters d JOIN row_sets r ON d.projection = r.set_name SET d.projection = r.projection;
DELETE FROM dead_letters WHERE projection LIKE '%@%';
DELETE FROM checkpoints WHERE projection LIKE '%@%';
DROP TABLE IF EXISTS threads_next;
DROP TABLE IF EXISTS members_next;
DROP TABLE IF EXISTS messages_next;
DROP TABLE IF EXISTS accounts_next;
DROP TABLE IF EXISTS row_sets_next;
DROP TABLE IF EXISTS threads_old;
DROP TABLE IF EXISTS members_old;
DROP TABLE IF EXISTS messages_old;
DROP TABLE IF EXISTS accounts_old;
DROP TABLE IF EXISTS row_sets_old;
DROP TABLE IF EXISTS projection_turn;
DROP TABLE IF EXISTS projection_rebuilds;
DROP TABLE IF EXISTS row_sets;
