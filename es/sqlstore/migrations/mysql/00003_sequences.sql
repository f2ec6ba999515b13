-- +goose Up

-- The state of each sequence: drawn is the last number that was drawn.
CREATE TABLE IF NOT EXISTS sequences (
    tenant_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    name        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    drawn       BIGINT      NOT NULL,
    PRIMARY KEY (tenant_code, name)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS sequences;
