package queryreader

import (
	"context"

	"example.com/threads/interfaceadaptor/readmodel/internal/rowkey"
	"example.com/threads/usecase"
)

// maxKeys bounds a statement to what every driver takes.
const maxKeys = 5000

// Versions implements [query.VersionReader].
func (r *Reader) Versions(ctx context.Context, keys []usecase.Key) (map[usecase.Key]uint64, error) {
	versions, err := rowkey.Versions(ctx, r.db, keys, maxKeys)
	if err != nil {
		return nil, r.explain("read versions of the read model", err)
	}
	return versions, nil
}
