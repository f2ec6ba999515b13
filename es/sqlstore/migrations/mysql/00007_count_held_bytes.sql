-- +goose Up

-- The rows had no bytes, which were summed up from all files with each part.
INSERT INTO held_bytes (tenant_code, owner, bytes)
SELECT tenant_code, owner, SUM(bytes) FROM files WHERE owner <> '' GROUP BY tenant_code, owner
ON DUPLICATE KEY UPDATE bytes = VALUES(bytes);
INSERT INTO held_bytes (tenant_code, owner, bytes)
SELECT tenant_code, '', SUM(bytes) FROM files GROUP BY tenant_code
ON DUPLICATE KEY UPDATE bytes = VALUES(bytes);

-- +goose Down
UPDATE held_bytes SET bytes = 0;
