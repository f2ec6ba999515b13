package queryreader

import (
	"context"
	"slices"
	"strings"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// maxKeys bounds a statement to what every driver takes.
const maxKeys = 5000

// Versions implements [query.VersionReader].
func (r *Reader) Versions(ctx context.Context, keys []usecase.ThreadKey) (map[usecase.ThreadKey]uint64, error) {
	versions := make(map[usecase.ThreadKey]uint64, len(keys))
	for some := range slices.Chunk(keys, maxKeys) {
		if err := r.addVersions(ctx, some, versions); err != nil {
			return nil, err
		}
	}
	return versions, nil
}

func (r *Reader) addVersions(ctx context.Context, keys []usecase.ThreadKey, versions map[usecase.ThreadKey]uint64) error {
	statement, args := versionsStatement(keys)
	var rows []struct {
		Tenant  string `db:"tenant_code"`
		ID      string `db:"id"`
		Version uint64 `db:"version"`
	}
	if err := r.db.SelectContext(ctx, &rows, statement, args...); err != nil {
		return r.explain("read versions of the read model", err)
	}
	for _, row := range rows {
		tenant, tenantErr := usecase.ParseTenant(row.Tenant)
		id, idErr := thread.ParseID[thread.Thread](row.ID)
		if err := unreadable("thread", row.ID, tenantErr, idErr); err != nil {
			return err
		}
		versions[usecase.ThreadKey{Tenant: tenant, Thread: id}] = row.Version
	}
	return nil
}

// versionsStatement asks tenant by tenant, because a list of pairs is written differently on SQLite and MySQL.
func versionsStatement(keys []usecase.ThreadKey) (string, []any) {
	byTenant := map[usecase.Tenant][]any{}
	for _, key := range keys {
		byTenant[key.Tenant] = append(byTenant[key.Tenant], key.Thread.String())
	}
	conditions := make([]string, 0, len(byTenant))
	args := make([]any, 0, len(keys)+len(byTenant))
	for tenant, ids := range byTenant {
		conditions = append(conditions, `tenant_code = ? AND id IN (?`+strings.Repeat(`, ?`, len(ids)-1)+`)`)
		args = append(append(args, tenant.String()), ids...)
	}
	return `SELECT tenant_code, id, version FROM threads WHERE ` + strings.Join(conditions, ` OR `), args
}
