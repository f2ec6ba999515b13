package dynamodb

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/es"
	"example.com/threads/es/internal/packing"
)

// errBroken: a snapshot is missing, incomplete, or does not match its checksum.
var errBroken = errors.New("the snapshot is missing or broken")

// readSnapshot reads a snapshot and its parts consistently; at headSeqNr, the state in the head item, which is that
// after event 1. It fails with errBroken if they are not a complete snapshot.
func (g *Gateway) readSnapshot(ctx context.Context, id es.AggregateID, seqNr uint64) (es.Snapshot, error) {
	main, err := g.getItem(ctx, g.settings.SnapshotTable, g.key(id, seqNr))
	if err != nil {
		return es.Snapshot{}, err
	}
	stored := main.bytes("payload")
	if stored == nil {
		return es.Snapshot{}, fmt.Errorf("%w: the item does not exist", errBroken)
	}
	parts, err := partKeys(main)
	if err != nil {
		return es.Snapshot{}, fmt.Errorf("%w: %w", errBroken, err)
	}
	for i, key := range parts {
		part, err := g.getItem(ctx, g.settings.SnapshotTable, key)
		if err != nil {
			return es.Snapshot{}, err
		}
		if len(part) == 0 {
			return es.Snapshot{}, fmt.Errorf("%w: part %d of %d does not exist", errBroken, i+1, len(parts))
		}
		stored = append(stored, part.bytes("payload")...)
	}
	payload, err := g.packer.Unpack(packing.Packed{Bytes: stored, Encoding: main.text("encoding"), Checksum: main.text("checksum")})
	if err != nil {
		return es.Snapshot{}, fmt.Errorf("%w: %w", errBroken, err)
	}
	if seqNr == headSeqNr {
		seqNr = formerState(main)
	}
	return es.Snapshot{Version: seqNr, Payload: payload}, nil
}
