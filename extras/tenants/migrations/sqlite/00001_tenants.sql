-- The registry of tenants, on SQLite. The same as in ../mysql.

-- +goose Up
-- tenant_code is empty, because the registry is under the tenant with the empty code; code is that of the registered
-- tenant.
CREATE TABLE tenants (
    tenant_code TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    code        TEXT    NOT NULL,
    suspended   INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    created_by  TEXT    NOT NULL DEFAULT '',
    updated_by  TEXT    NOT NULL DEFAULT '',
    created_ip  TEXT    NOT NULL DEFAULT '',
    updated_ip  TEXT    NOT NULL DEFAULT '',
    request_id  TEXT    NOT NULL DEFAULT '',
    source      TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_code, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tenants_created_at ON tenants (tenant_code, created_at, id);

-- +goose Down
DROP TABLE IF EXISTS tenants;
DROP TABLE IF EXISTS tenants_next;
DROP TABLE IF EXISTS tenants_old;
