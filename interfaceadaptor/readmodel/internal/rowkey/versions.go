package rowkey

import (
	"context"
	"slices"

	"github.com/jmoiron/sqlx"

	"example.com/threads/usecase"
)

// Versions reads the versions of those of the threads that have a row. A statement asks for atOnce keys at most. An
// error of the database is as the driver has it.
func Versions(ctx context.Context, db sqlx.QueryerContext, threads []usecase.Key, atOnce int) (map[usecase.Key]uint64, error) {
	versions := make(map[usecase.Key]uint64, len(threads))
	for keys := range slices.Chunk(InOrder(threads, OfThread), atOnce) {
		var found []struct {
			Key
			Version uint64 `db:"version"`
		}
		where, args := Where("id", keys)
		if err := sqlx.SelectContext(ctx, db, &found, "SELECT tenant_code, id, version FROM threads WHERE "+where, args...); err != nil {
			return nil, err
		}
		for _, row := range found {
			key, err := row.Thread()
			if err != nil {
				return nil, err
			}
			versions[key] = row.Version
		}
	}
	return versions, nil
}
