-- +goose Up

-- The temporary files, and the bytes that each owner holds in them; those of the whole tenant have an empty owner.
CREATE TABLE IF NOT EXISTS files (
    tenant_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    file        VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    owner       VARCHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    bytes       BIGINT      NOT NULL,
    expires_at  BIGINT      NOT NULL,
    PRIMARY KEY (tenant_code, file),
    KEY files_expires_at (expires_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS held_bytes (
    tenant_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    owner       VARCHAR(26) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    bytes       BIGINT      NOT NULL,
    PRIMARY KEY (tenant_code, owner)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Files from before count for nobody.
INSERT IGNORE INTO files (tenant_code, file, owner, bytes, expires_at)
SELECT tenant_code, file, '', 0, MAX(expires_at) FROM file_parts GROUP BY tenant_code, file;

-- +goose Down
DROP TABLE IF EXISTS held_bytes;
DROP TABLE IF EXISTS files;
