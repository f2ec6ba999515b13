-- Longer columns for sealed names and texts, which are longer than plain ones, on MySQL and MariaDB.

-- +goose Up
ALTER TABLE threads MODIFY name VARCHAR(512) NOT NULL;
ALTER TABLE accounts MODIFY name VARCHAR(512) NOT NULL;
ALTER TABLE messages MODIFY text TEXT NOT NULL;

-- +goose Down
ALTER TABLE messages MODIFY text VARCHAR(4000) NOT NULL;
ALTER TABLE accounts MODIFY name VARCHAR(64) NOT NULL;
ALTER TABLE threads MODIFY name VARCHAR(64) NOT NULL;
