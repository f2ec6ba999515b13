-- The registry of tenants, on MySQL and MariaDB. The same as in ../sqlite.

-- +goose Up
-- tenant_code is empty, because the registry is under the tenant with the empty code; code is that of the registered
-- tenant.
CREATE TABLE IF NOT EXISTS tenants (
    tenant_code VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    id          CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    code        VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    suspended   BOOLEAN     NOT NULL,
    version     BIGINT      NOT NULL,
    created_at  BIGINT      NOT NULL,
    updated_at  BIGINT      NOT NULL,
    created_by  CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    updated_by  CHAR(26)    CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT '',
    created_ip  VARCHAR(255) NOT NULL DEFAULT '',
    updated_ip  VARCHAR(255) NOT NULL DEFAULT '',
    request_id  VARCHAR(255) NOT NULL DEFAULT '',
    source      VARCHAR(255) NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_code, id),
    KEY tenants_created_at (tenant_code, created_at, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- +goose Down
DROP TABLE IF EXISTS tenants;
DROP TABLE IF EXISTS tenants_next;
DROP TABLE IF EXISTS tenants_old;
