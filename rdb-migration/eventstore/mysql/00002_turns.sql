-- +goose Up

-- asked is 1 when a writer that others keep ahead of wants a turn; the next write takes it back.
ALTER TABLE aggregates ADD COLUMN asked TINYINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE aggregates DROP COLUMN asked;
