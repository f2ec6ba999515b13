package sqlstore

import (
	"cmp"
	"context"
	"fmt"

	"example.com/threads/es"
	"example.com/threads/es/internal/packing"
)

// The columns of the tables begin with their keys.
var (
	partColumns = []string{"tenant_code", "file", "number", "encoding", "checksum", "content", "expires_at"}
	fileColumns = []string{"tenant_code", "file", "owner", "bytes", "expires_at"}
	heldColumns = []string{"tenant_code", "owner", "bytes"}
)

// PutParts writes the parts' rows, and counts their bytes in held_bytes: for the owner, and for the tenant in the row
// of no owner. The lock on that row has the writers of a tenant count one after the other.
func (g *Gateway) PutParts(ctx context.Context, file es.File, first uint64, parts ...[]byte) error {
	if err := file.Check(parts); err != nil {
		return err
	}
	bytes, packed := 0, make([]packing.Packed, len(parts))
	for i, content := range parts {
		bytes, packed[i] = bytes+len(content), g.packer.Pack(content)
	}
	expires := file.Expires.UnixMicro()
	err := g.writer.write(ctx, func(ctx context.Context, in session) error {
		_, err := in.ExecContext(ctx, g.dialect.Insert("held_bytes", heldColumns, 2)+g.dialect.OnConflict(heldColumns[:2]...)+"bytes = bytes + ?",
			file.Tenant, "", bytes, file.Tenant, file.Owner, bytes, bytes)
		var tenant, owner int
		if err == nil {
			const held = "SELECT bytes FROM held_bytes WHERE tenant_code = ? AND owner = ?"
			err = cmp.Or(in.GetContext(ctx, &tenant, held, file.Tenant, ""), in.GetContext(ctx, &owner, held, file.Tenant, file.Owner))
		}
		if err == nil && (tenant > g.settings.TenantBytes || owner > g.settings.OwnerBytes) {
			err = es.ErrSpoolFull
		}
		if err == nil {
			_, err = in.ExecContext(ctx, g.dialect.Insert("files", fileColumns, 1)+g.dialect.OnConflict(fileColumns[:2]...)+"bytes = bytes + ?, expires_at = ?",
				file.Tenant, file.Name, file.Owner, bytes, expires, bytes, expires)
		}
		for i, part := range packed {
			if err == nil {
				_, err = in.ExecContext(ctx, g.dialect.Upsert("file_parts", partColumns[:3], partColumns, 1),
					file.Tenant, file.Name, first+uint64(i), part.Encoding, part.Checksum, part.Bytes, expires)
			}
		}
		return err
	})
	return g.explain(ctx, err, "store parts of the file %s", file.Name)
}

// Part reads the part's row. An expired part counts as missing.
func (g *Gateway) Part(ctx context.Context, tenant es.Tenant, name string, number uint64) ([]byte, bool, error) {
	row, found, err := readRow[snapshotRow](ctx, g.DB,
		"SELECT encoding, checksum, content AS snapshot FROM file_parts WHERE tenant_code = ? AND file = ? AND number = ? AND expires_at > ?",
		tenant, name, number, g.settings.Clock().UnixMicro())
	if err != nil || !found {
		return nil, false, g.explain(ctx, err, "read part %d of the file %s", number, name)
	}
	content, err := g.unpack(row)
	if err != nil {
		return nil, false, fmt.Errorf("part %d of the file %s is broken: %w", number, name, err)
	}
	return content, true, nil
}

// DeleteFile deletes the file's rows.
func (g *Gateway) DeleteFile(ctx context.Context, file es.File) error {
	err := g.writer.write(ctx, func(ctx context.Context, in session) error {
		// The lock comes before the file is looked at: another one may be deleting it.
		_, err := in.ExecContext(ctx, "UPDATE held_bytes SET bytes = bytes WHERE tenant_code = ? AND owner = ''", file.Tenant)
		if err != nil {
			return err
		}
		_, err = in.ExecContext(ctx, `UPDATE held_bytes SET bytes = bytes - COALESCE((SELECT bytes FROM files WHERE tenant_code = ? AND file = ?), 0)
			WHERE tenant_code = ? AND owner IN ('', (SELECT owner FROM files WHERE tenant_code = ? AND file = ?))`,
			file.Tenant, file.Name, file.Tenant, file.Tenant, file.Name)
		if err == nil {
			_, err = in.ExecContext(ctx, "DELETE FROM files WHERE tenant_code = ? AND file = ?", file.Tenant, file.Name)
		}
		if err == nil {
			_, err = in.ExecContext(ctx, "DELETE FROM file_parts WHERE tenant_code = ? AND file = ?", file.Tenant, file.Name)
		}
		return err
	})
	return g.explain(ctx, err, "delete the file %s", file.Name)
}

// expiredAtOnce is the number of expired files that are read in one query.
const expiredAtOnce = 100

// DeleteExpired deletes file by file.
func (g *Gateway) DeleteExpired(ctx context.Context) (count int, err error) {
	for {
		var files []struct {
			Tenant es.Tenant `db:"tenant_code"`
			Name   string    `db:"file"`
		}
		err := g.DB.SelectContext(ctx, &files, "SELECT tenant_code, file FROM files WHERE expires_at <= ? ORDER BY expires_at LIMIT ?",
			g.settings.Clock().UnixMicro(), expiredAtOnce)
		if err != nil || len(files) == 0 {
			return count, g.explain(ctx, err, "read the expired files")
		}
		for _, file := range files {
			if err := g.DeleteFile(ctx, es.File{Tenant: file.Tenant, Name: file.Name}); err != nil {
				return count, err
			}
			count++
		}
	}
}
