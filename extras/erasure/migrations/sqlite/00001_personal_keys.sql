-- +goose Up

-- The keys that seal people's texts, each wrapped by the master key. erased_at is 0, or the time when the key was
-- destroyed; then wrapped is empty.
CREATE TABLE IF NOT EXISTS personal_keys (
    tenant_code TEXT    NOT NULL,
    owner_id    TEXT    NOT NULL,
    wrapped     BLOB    NOT NULL,
    erased_at   INTEGER NOT NULL,
    PRIMARY KEY (tenant_code, owner_id)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE IF EXISTS personal_keys;
