-- +goose Up

-- The state of each sequence: drawn is the last number that was drawn.
CREATE TABLE sequences (
    tenant_code TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    drawn       INTEGER NOT NULL,
    PRIMARY KEY (tenant_code, name)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE sequences;
