-- +goose Up

-- The parts of temporary files: the inputs and results of tasks.
CREATE TABLE file_parts (
    tenant_code TEXT    NOT NULL,
    file        TEXT    NOT NULL,
    number      INTEGER NOT NULL,
    encoding    TEXT    NOT NULL,
    checksum    TEXT    NOT NULL,
    content     BLOB    NOT NULL,
    expires_at  INTEGER NOT NULL,
    PRIMARY KEY (tenant_code, file, number)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE file_parts;
