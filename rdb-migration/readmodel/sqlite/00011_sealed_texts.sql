-- Nothing to do for sealed names and texts: SQLite's texts have no maximum length. The same number as in ../mysql.

-- +goose Up
SELECT 1;

-- +goose Down
SELECT 1;
