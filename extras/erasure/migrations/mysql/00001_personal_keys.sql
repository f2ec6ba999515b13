-- +goose Up

-- The keys that seal people's texts, each wrapped by the master key. erased_at is 0, or the time when the key was
-- destroyed; then wrapped is empty.
CREATE TABLE IF NOT EXISTS personal_keys (
    tenant_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    owner_id    VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    wrapped     BLOB        NOT NULL,
    erased_at   BIGINT      NOT NULL,
    PRIMARY KEY (tenant_code, owner_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS personal_keys;
