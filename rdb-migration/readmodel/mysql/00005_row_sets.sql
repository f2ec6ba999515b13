-- Sets of rows beside each other, and whose turn it is to write them, on MySQL and MariaDB. The same as in ../sqlite.

-- +goose Up

-- Which positions and dead letters belong to the rows in the tables, where that is not the projection's own name, and
-- which versions of the handlers made them. It takes a rebuild's place together with the tables, in the same statement.
CREATE TABLE IF NOT EXISTS row_sets (
    projection VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    set_name   VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    handlers   VARCHAR(1024) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- "<aggregate type>=<version>", separated by commas
    PRIMARY KEY (projection)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The latest rebuild of each projection. It is over when phase is done or cancelled.
CREATE TABLE IF NOT EXISTS projection_rebuilds (
    projection   VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    generation   BIGINT        NOT NULL, -- counts them
    set_name     VARCHAR(64)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    handlers     VARCHAR(1024) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    phase        VARCHAR(16)   CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    events_done  BIGINT        NOT NULL,
    events_total BIGINT        NOT NULL, -- as far as is known
    cancelled    BOOLEAN       NOT NULL, -- somebody asks for its end
    failure      VARCHAR(2000) NOT NULL, -- why it stopped the last time; empty: it did not
    started_at   BIGINT        NOT NULL,
    updated_at   BIGINT        NOT NULL, -- it is made every second while the rebuild runs
    PRIMARY KEY (projection)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The one row that every transaction on rows shares, and that is locked while a rebuild takes the live set's place. term
-- counts the updaters that have had the turn: one whose term is over can't write any more.
CREATE TABLE IF NOT EXISTS projection_turn (
    id     INT          NOT NULL,
    term   BIGINT       NOT NULL,
    holder VARCHAR(255) NOT NULL, -- who had the turn last
    since  BIGINT       NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
INSERT IGNORE INTO projection_turn VALUES (1, 0, '', 0);

-- +goose Down
-- The live rows keep their positions, under the projection's own name; all other sets go.
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
