-- +goose Up

-- asked is 1 while a writer that keeps losing conflicts asks for a turn; the next write resets it.
ALTER TABLE aggregates ADD COLUMN asked TINYINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE aggregates DROP COLUMN asked;
