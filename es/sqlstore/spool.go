package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/internal/packing"
	"example.com/threads/es/internal/sqldialect"
)

var (
	partKey     = []string{"tenant_code", "file", "number"}
	partColumns = []string{"tenant_code", "file", "number", "encoding", "checksum", "content", "expires_at"}
)

// PutParts writes the parts' rows, and counts their bytes in the same transaction.
func (g *Gateway) PutParts(ctx context.Context, file es.File, first uint64, parts ...[]byte) error {
	if err := es.CheckParts(file, parts); err != nil {
		return err
	}
	change := &storingParts{gateway: g, file: file, first: first}
	for _, content := range parts {
		change.parts = append(change.parts, g.packer.Pack(content))
		change.bytes += len(content)
	}
	return g.explain(ctx, g.writer.write(ctx, change), "store parts of the file %s", file.Name)
}

// storingParts is the change of PutParts.
type storingParts struct {
	upkeep
	gateway *Gateway
	file    es.File
	first   uint64
	parts   []packing.Packed
	bytes   int
}

func (*storingParts) refused(context.Context, session) error { return es.ErrSpoolFull }

func (s *storingParts) apply(ctx context.Context, in session) error {
	limits := s.gateway.settings.Spool.WithDefaults()
	// The tenant first, always, so that transactions do not lock each other out.
	for _, held := range []struct {
		owner string
		limit int
	}{{wholeTenant, limits.Tenant}, {s.file.Owner, limits.Owner}} {
		bytes, err := s.hold(ctx, in, held.owner)
		if err == nil && bytes > held.limit {
			err = errRefused
		}
		if err != nil {
			return err
		}
	}
	err := s.increase(ctx, in, "UPDATE files SET bytes = bytes + ? WHERE tenant_code = ? AND file = ?", []any{s.bytes, s.file.Tenant, s.file.Name},
		"files", []string{"bytes", "tenant_code", "file", "owner", "expires_at"}, s.file.Owner, s.file.Expires.UnixMicro())
	for i, part := range s.parts {
		if err != nil {
			break
		}
		_, err = in.ExecContext(ctx, s.gateway.dialect.Upsert("file_parts", partKey, partColumns, 1),
			s.file.Tenant, s.file.Name, s.first+uint64(i), part.Encoding, part.Checksum, part.Bytes, s.file.Expires.UnixMicro())
	}
	return err
}

// wholeTenant is the owner in the row that counts all bytes of a tenant.
const wholeTenant = ""

// hold adds to the bytes that an owner holds, and returns them.
func (s *storingParts) hold(ctx context.Context, in session, owner string) (bytes int, err error) {
	err = s.increase(ctx, in, "UPDATE held_bytes SET bytes = bytes + ? WHERE tenant_code = ? AND owner = ?", []any{s.bytes, s.file.Tenant, owner},
		"held_bytes", []string{"bytes", "tenant_code", "owner"})
	if err == nil {
		err = in.GetContext(ctx, &bytes, "SELECT bytes FROM held_bytes WHERE tenant_code = ? AND owner = ?", s.file.Tenant, owner)
	}
	return bytes, err
}

// increase updates a row, or inserts it: the columns are the arguments of the update and more. The loser of a race to
// insert finds the winner's row.
func (s *storingParts) increase(ctx context.Context, in session, update string, args []any, table string, columns []string, more ...any) error {
	updated, err := changed(ctx, in, update, args...)
	if err != nil || updated > 0 {
		return err
	}
	_, err = in.ExecContext(ctx, s.gateway.dialect.Insert(table, columns, 1), append(args, more...)...)
	if sqldialect.ClassOf(err) == sqldialect.Duplicate {
		_, err = in.ExecContext(ctx, update, args...)
	}
	return err
}

// Part reads the part's row. An expired part counts as missing.
func (g *Gateway) Part(ctx context.Context, tenant es.Tenant, name string, number uint64) ([]byte, bool, error) {
	var row struct {
		Encoding string `db:"encoding"`
		Checksum string `db:"checksum"`
		Content  []byte `db:"content"`
	}
	err := g.db.GetContext(ctx, &row,
		"SELECT encoding, checksum, content FROM file_parts WHERE tenant_code = ? AND file = ? AND number = ? AND expires_at > ?",
		tenant, name, number, g.settings.Clock().UnixMicro())
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, g.explain(ctx, err, "read part %d of the file %s", number, name)
	}
	content, err := g.packer.Unpack(packing.Packed{Bytes: row.Content, Encoding: row.Encoding, Checksum: row.Checksum})
	if err != nil {
		return nil, false, fmt.Errorf("part %d of the file %s is broken: %w", number, name, err)
	}
	return content, true, nil
}

// DeleteFile deletes the file's rows, and the count of their bytes in the same transaction.
func (g *Gateway) DeleteFile(ctx context.Context, file es.File) error {
	err := g.writer.write(ctx, deletingFile{file: file})
	return g.explain(ctx, err, "delete the file %s", file.Name)
}

// deletingFile is the change of DeleteFile. It is refused, without an error, if another writer is changing the file.
type deletingFile struct {
	upkeep
	file es.File
}

func (d deletingFile) apply(ctx context.Context, in session) error {
	var row struct {
		Owner string `db:"owner"`
		Bytes int    `db:"bytes"`
	}
	err := in.GetContext(ctx, &row, "SELECT owner, bytes FROM files WHERE tenant_code = ? AND file = ?", d.file.Tenant, d.file.Name)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	for _, owner := range []string{wholeTenant, row.Owner} {
		if err == nil {
			_, err = in.ExecContext(ctx, "UPDATE held_bytes SET bytes = bytes - ? WHERE tenant_code = ? AND owner = ?", row.Bytes, d.file.Tenant, owner)
		}
	}
	if err != nil {
		return err
	}
	deleted, err := changed(ctx, in, "DELETE FROM files WHERE tenant_code = ? AND file = ? AND bytes = ?", d.file.Tenant, d.file.Name, row.Bytes)
	if err == nil && deleted == 0 {
		err = errRefused
	}
	if err == nil {
		_, err = in.ExecContext(ctx, "DELETE FROM file_parts WHERE tenant_code = ? AND file = ?", d.file.Tenant, d.file.Name)
	}
	return err
}

// expiredAtOnce is the number of expired files that are read in one query.
const expiredAtOnce = 100

// DeleteExpired deletes file by file.
func (g *Gateway) DeleteExpired(ctx context.Context) (count int, err error) {
	var last expiredFile
	for {
		var files []expiredFile
		err := g.db.SelectContext(ctx, &files, "SELECT tenant_code, file, expires_at FROM files WHERE expires_at <= ? AND "+
			"(expires_at > ? OR (expires_at = ? AND (tenant_code > ? OR (tenant_code = ? AND file > ?)))) ORDER BY expires_at, tenant_code, file LIMIT ?",
			g.settings.Clock().UnixMicro(), last.Expires, last.Expires, last.Tenant, last.Tenant, last.File, expiredAtOnce)
		if err != nil {
			return count, g.explain(ctx, err, "read the expired files")
		}
		for _, last = range files {
			if err := g.DeleteFile(ctx, es.File{Tenant: es.Tenant(last.Tenant), Name: last.File, Expires: time.UnixMicro(last.Expires)}); err != nil {
				return count, err
			}
			count++
		}
		if len(files) < expiredAtOnce {
			return count, nil
		}
	}
}

type expiredFile struct {
	Tenant  string `db:"tenant_code"`
	File    string `db:"file"`
	Expires int64  `db:"expires_at"`
}
