package projectionstore

import (
	"context"

	"example.com/threads/interfaceadaptor/sqldialect"
	"example.com/threads/usecase/projection"
)

// Checkpoints implements [projection.Checkpoints].
func (s *Store) Checkpoints(ctx context.Context, source string) ([]projection.Checkpoint, error) {
	var found []struct {
		Shard    string `db:"shard"`
		Position string `db:"position"`
	}
	if err := s.db.SelectContext(ctx, &found, "SELECT shard, position FROM checkpoints WHERE source = ?", source); err != nil {
		return nil, s.classified("read checkpoints", err)
	}
	checkpoints := make([]projection.Checkpoint, len(found))
	for i, row := range found {
		checkpoints[i] = projection.Checkpoint{Source: source, Shard: row.Shard, Position: row.Position}
	}
	return checkpoints, nil
}

// Forget implements [projection.Checkpoints].
func (s *Store) Forget(ctx context.Context, source string, shards ...string) error {
	if len(shards) == 0 {
		return nil
	}
	args := []any{source}
	for _, shard := range shards {
		args = append(args, shard)
	}
	query := "DELETE FROM checkpoints WHERE source = ? AND shard IN (" + sqldialect.Marks(len(shards)) + ")"
	if _, err := s.db.ExecContext(ctx, query, args...); err != nil {
		return s.classified("forget checkpoints", err)
	}
	return nil
}
