-- +goose Up

-- The temporary files, and the bytes that each owner holds in them; those of the whole tenant have an empty owner.
CREATE TABLE files (
    tenant_code TEXT    NOT NULL,
    file        TEXT    NOT NULL,
    owner       TEXT    NOT NULL,
    bytes       INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    PRIMARY KEY (tenant_code, file)
) STRICT, WITHOUT ROWID;
CREATE INDEX files_expires_at ON files (expires_at);

CREATE TABLE held_bytes (
    tenant_code TEXT    NOT NULL,
    owner       TEXT    NOT NULL,
    bytes       INTEGER NOT NULL,
    PRIMARY KEY (tenant_code, owner)
) STRICT, WITHOUT ROWID;

-- Files from before count for nobody.
INSERT INTO files (tenant_code, file, owner, bytes, expires_at)
SELECT tenant_code, file, '', 0, MAX(expires_at) FROM file_parts GROUP BY tenant_code, file;

-- +goose Down
DROP TABLE held_bytes;
DROP TABLE files;
