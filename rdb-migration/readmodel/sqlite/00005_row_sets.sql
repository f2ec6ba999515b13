-- Sets of rows for rebuilds, and the turn to write them, on SQLite. The same as in ../mysql, where it is explained.

-- +goose Up
CREATE TABLE row_sets (
    projection TEXT NOT NULL,
    set_name   TEXT NOT NULL,
    handlers   TEXT NOT NULL,
    PRIMARY KEY (projection)
) STRICT, WITHOUT ROWID;

CREATE TABLE projection_rebuilds (
    projection   TEXT    NOT NULL,
    generation   INTEGER NOT NULL,
    set_name     TEXT    NOT NULL,
    handlers     TEXT    NOT NULL,
    phase        TEXT    NOT NULL,
    events_done  INTEGER NOT NULL,
    events_total INTEGER NOT NULL,
    cancelled    INTEGER NOT NULL,
    failure      TEXT    NOT NULL,
    started_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    PRIMARY KEY (projection)
) STRICT, WITHOUT ROWID;

CREATE TABLE projection_turn (
    id     INTEGER NOT NULL PRIMARY KEY,
    term   INTEGER NOT NULL,
    holder TEXT    NOT NULL,
    since  INTEGER NOT NULL
) STRICT;
INSERT INTO projection_turn VALUES (1, 0, '', 0);

-- +goose Down
DELETE FROM projection_positions WHERE projection IN (SELECT projection FROM row_sets WHERE set_name <> projection);
UPDATE projection_positions SET projection = (SELECT r.projection FROM row_sets r WHERE r.set_name = projection_positions.projection)
    WHERE projection IN (SELECT set_name FROM row_sets);
DELETE FROM projection_positions WHERE projection LIKE '%@%';
DELETE FROM dead_letters WHERE projection IN (SELECT projection FROM row_sets WHERE set_name <> projection);
UPDATE dead_letters SET projection = (SELECT r.projection FROM row_sets r WHERE r.set_name = dead_letters.projection)
    WHERE projection IN (SELECT set_name FROM row_sets);
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
DROP TABLE projection_turn;
DROP TABLE projection_rebuilds;
DROP TABLE row_sets;
