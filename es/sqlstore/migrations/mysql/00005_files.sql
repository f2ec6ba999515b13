-- +goose Up

-- The parts of temporary files: the inputs and results of tasks.
CREATE TABLE IF NOT EXISTS file_parts (
    tenant_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    file        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    number      BIGINT      NOT NULL, -- of the part
    encoding    VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    checksum    CHAR(64)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL, -- SHA-256 of content
    content     MEDIUMBLOB  NOT NULL,
    expires_at  BIGINT      NOT NULL,
    PRIMARY KEY (tenant_code, file, number)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS file_parts;
