package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"

	"example.com/threads/es"
	"example.com/threads/es/internal/packing"
	"example.com/threads/es/internal/seq"
)

// errBroken: a snapshot is missing, incomplete, or does not match its checksum.
var errBroken = errors.New("the snapshot is missing or broken")

// Snapshots yields the snapshot that the head points to, then older ones from the index, then the state after event 1
// from the head item. Each is read only when it is requested.
func (g *Gateway) Snapshots(ctx context.Context, id es.AggregateID, head es.Head) iter.Seq2[es.Snapshot, error] {
	return seq.Map(g.candidates(ctx, id, head), func(version uint64) (es.Snapshot, error) {
		snapshot, err := g.readSnapshot(ctx, id, version)
		if errors.Is(err, errBroken) {
			g.logger.WarnContext(ctx, "skipped an unreadable snapshot; an earlier one or the events are used instead",
				"tenant", id.Tenant, "aggregate", id.String(), "seq_nr", version, "error", err)
			return snapshot, seq.ErrSkip
		}
		if snapshot.Version > head.Version {
			return snapshot, seq.ErrSkip // the state in an earlier writer's head
		}
		return snapshot, Explain(ctx, err, "read a snapshot of %s", id)
	})
}

// candidates yields the seq_nrs of the items that may hold a snapshot, latest first. The head may be old and point to
// one that was trimmed since, so the index is read up to the head's version.
func (g *Gateway) candidates(ctx context.Context, id es.AggregateID, head es.Head) iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		if head.SnapshotVersion > 0 {
			if head.SnapshotVersion <= head.Version && !yield(head.SnapshotVersion, nil) {
				return
			}
			index := seq.Map(g.snapshotIndex(ctx, id, head.Version), func(main item) (uint64, error) { return main.number("seq_nr") })
			for version, err := range index {
				if version != head.SnapshotVersion && !yield(version, err) {
					return
				}
			}
		}
		if head.Version > 0 {
			yield(headSeqNr, nil)
		}
	}
}

// snapshotIndex yields the main items of the snapshots up to a version as the index shows them, latest first: keys,
// checksum, parts and ttl. The head (seq_nr 0) is not included.
func (g *Gateway) snapshotIndex(ctx context.Context, id es.AggregateID, upTo uint64) iter.Seq2[item, error] {
	if upTo == 0 {
		return func(func(item, error) bool) {}
	}
	input := g.indexed(g.settings.SnapshotTable, snapshotIndex, id, 1, upTo)
	input.ScanIndexForward = aws.Bool(false)
	return g.query(ctx, new(pageSize), "find the snapshots of "+id.String(), input)
}

// readSnapshot reads a snapshot and its parts consistently; at headSeqNr, the state in the head item, which is that
// after event 1. It fails with errBroken if they are not a complete snapshot.
func (g *Gateway) readSnapshot(ctx context.Context, id es.AggregateID, seqNr uint64) (es.Snapshot, error) {
	main, err := g.getItem(ctx, g.settings.SnapshotTable, g.key(id, seqNr), "")
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
		part, err := g.getItem(ctx, g.settings.SnapshotTable, key, "")
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

// partKeys returns the keys of the further items of a snapshot.
func partKeys(main item) ([]item, error) {
	parts, err := main.number("parts")
	if err != nil {
		return nil, err
	}
	if parts > packing.MaxState/partBytes {
		return nil, fmt.Errorf("a snapshot cannot have %d parts", parts)
	}
	keys := make([]item, parts)
	for i := range keys {
		keys[i] = partKey(main, i+1)
	}
	return keys, nil
}
