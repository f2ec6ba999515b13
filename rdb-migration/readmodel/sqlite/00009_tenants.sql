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
    PRIMARY KEY (tenant_code, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX tenants_created_at ON tenants (tenant_code, created_at, id);

-- +goose Down
DROP TABLE tenants;
