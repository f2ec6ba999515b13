package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"example.com/threads/es/eventstore"
	"example.com/threads/es/internal/packing"
)

var _ eventstore.SpoolPruner = (*Gateway)(nil)

var (
	partKey     = []string{"tenant_code", "file", "number"}
	partColumns = []string{"tenant_code", "file", "number", "encoding", "checksum", "content", "expires_at"}
)

// PutPart writes the part's row.
func (g *Gateway) PutPart(ctx context.Context, tenant, file string, number uint64, content []byte, expires time.Time) error {
	if err := eventstore.CheckPart(file, content); err != nil {
		return err
	}
	packed := g.packer.Pack(content)
	err := g.writer.write(ctx, statement(g.dialect.Upsert("file_parts", partKey, partColumns, 1),
		tenant, file, number, packed.Encoding, packed.Checksum, packed.Bytes, expires.UnixMicro()))
	return explain(ctx, g.dialect, err, "store part %d of the file %s", number, file)
}

// Part reads the part's row. An expired part counts as missing.
func (g *Gateway) Part(ctx context.Context, tenant, file string, number uint64) ([]byte, bool, error) {
	var row struct {
		Encoding string `db:"encoding"`
		Checksum string `db:"checksum"`
		Content  []byte `db:"content"`
	}
	err := g.db.GetContext(ctx, &row,
		"SELECT encoding, checksum, content FROM file_parts WHERE tenant_code = ? AND file = ? AND number = ? AND expires_at > ?",
		tenant, file, number, g.settings.Clock().UnixMicro())
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, explain(ctx, g.dialect, err, "read part %d of the file %s", number, file)
	}
	content, err := g.packer.Unpack(packing.Packed{Bytes: row.Content, Encoding: row.Encoding, Checksum: row.Checksum})
	if err != nil {
		return nil, false, fmt.Errorf("part %d of the file %s is broken: %w", number, file, err)
	}
	return content, true, nil
}

// PruneSpool implements [eventstore.SpoolPruner], file by file.
func (g *Gateway) PruneSpool(ctx context.Context, expiredBefore time.Time, dryRun bool) (pruned int, err error) {
	var last fileKey
	for {
		var file fileKey
		err := g.db.GetContext(ctx, &file, "SELECT tenant_code, file, COUNT(*) AS parts FROM file_parts WHERE expires_at < ? AND "+
			"(tenant_code > ? OR (tenant_code = ? AND file > ?)) GROUP BY tenant_code, file ORDER BY tenant_code, file LIMIT 1",
			expiredBefore.UnixMicro(), last.Tenant, last.Tenant, last.File)
		if errors.Is(err, sql.ErrNoRows) {
			return pruned, nil
		}
		if err == nil && !dryRun {
			err = g.writer.write(ctx, statement("DELETE FROM file_parts WHERE tenant_code = ? AND file = ? AND expires_at < ?",
				file.Tenant, file.File, expiredBefore.UnixMicro()))
		}
		if err != nil {
			return pruned, explain(ctx, g.dialect, err, "prune files")
		}
		pruned += file.Parts
		last = file
	}
}

type fileKey struct {
	Tenant string `db:"tenant_code"`
	File   string `db:"file"`
	Parts  int    `db:"parts"`
}
