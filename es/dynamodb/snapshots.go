package dynamodb

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"

	"example.com/threads/es"
	"example.com/threads/es/internal/packing"
	"example.com/threads/es/internal/seq"
)

// Snapshots yields the snapshot that the head points to, then older ones from the index, then the state after event 1
// from the head item. Each is read only when it is requested.
func (g *Gateway) Snapshots(ctx context.Context, id es.AggregateID, head es.Head) iter.Seq2[es.Snapshot, error] {
	return yielded(ctx, g, id, func(g *Gateway) iter.Seq2[es.Snapshot, error] {
		return seq.Map(g.candidates(ctx, id, head), func(version uint64) (es.Snapshot, error) {
			snapshot, err := g.readSnapshot(ctx, id, version)
			if snapshot.Version > head.Version {
				return snapshot, seq.ErrSkip // the state in an earlier writer's head
			}
			return snapshot, Explain(ctx, err, "read a snapshot of %s", id)
		})
	})
}

// candidates yields the seq_nrs of the items that may hold a snapshot, latest first. An old head may point to one that
// was trimmed since, so the index is read up to the head's version.
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

// snapshotIndex yields the main items of the snapshots up to a version as the index shows them, latest first.
func (g *Gateway) snapshotIndex(ctx context.Context, id es.AggregateID, upTo uint64) iter.Seq2[item, error] {
	if upTo == 0 {
		return func(func(item, error) bool) {}
	}
	input := g.indexed(g.settings.SnapshotTable, snapshotIndex, id, 1, upTo)
	input.ScanIndexForward = aws.Bool(false)
	return g.query(ctx, "find the snapshots of "+id.String(), input)
}

// readSnapshot reads a snapshot and its parts consistently; at headSeqNr, the state after event 1 in the head item.
func (g *Gateway) readSnapshot(ctx context.Context, id es.AggregateID, seqNr uint64) (es.Snapshot, error) {
	main, err := g.getItem(ctx, g.settings.SnapshotTable, g.key(id, seqNr), "")
	if err != nil {
		return es.Snapshot{}, err
	}
	if seqNr == headSeqNr {
		seqNr = formerState(main)
	}
	stored := main.bytes("payload")
	snapshot := es.Snapshot{Version: seqNr}
	if stored == nil {
		snapshot.Broken = "its item does not exist"
	}
	parts := partKeys(main)
	for i, key := range parts {
		part, err := g.getItem(ctx, g.settings.SnapshotTable, key, "")
		if err != nil {
			return es.Snapshot{}, err
		}
		if len(part) == 0 {
			snapshot.Broken = fmt.Sprintf("part %d of %d does not exist", i+1, len(parts))
		}
		stored = append(stored, part.bytes("payload")...)
	}
	if snapshot.Broken != "" {
		return snapshot, nil
	}
	payload, err := g.packer.Unpack(packing.Packed{Bytes: stored, Encoding: main.text("encoding"), Checksum: main.text("checksum")})
	if err == nil {
		snapshot.Payload = payload
	} else {
		snapshot.Broken = err.Error()
	}
	return snapshot, nil
}

// partKeys returns the keys of the further items of a snapshot; none if their number is invalid.
func partKeys(main item) []item {
	parts, err := main.number("parts")
	if err != nil || parts > packing.MaxState/partBytes {
		return nil
	}
	keys := make([]item, parts)
	for i := range keys {
		keys[i] = partKey(main, i+1)
	}
	return keys
}

// partBytes is the maximum number of bytes of a snapshot in one item; DynamoDB's limit for an item is 400 KB.
const partBytes = 300_000

// SaveSnapshot writes the parts, then the main item, which completes the snapshot, then the head's pointer, which makes
// it the latest. A process that dies in between leaves unused parts, which only cost storage.
func (g *Gateway) SaveSnapshot(ctx context.Context, id es.AggregateID, snapshot es.Snapshot) (err error) {
	defer func() { err = Explain(ctx, err, "save a snapshot of %s", id) }()
	if g, err = g.at(ctx, id); err != nil {
		return err
	}
	head, err := g.Head(ctx, id)
	if err != nil {
		return err
	}
	if err := head.Check(snapshot); err != nil {
		return err
	}
	if snapshot.Version <= head.SnapshotVersion {
		if latest, err := g.readSnapshot(ctx, id, head.SnapshotVersion); err != nil || latest.Broken == "" {
			return err
		}
	}
	if err := g.writeSnapshot(ctx, id, snapshot); err != nil {
		return err
	}
	latest, err := g.pointTo(ctx, id, snapshot.Version, head.SnapshotVersion)
	if err != nil || latest == 0 { // 0: the head was deleted
		return err
	}
	return g.trimSnapshots(ctx, id, latest)
}

// writeSnapshot stores a snapshot. A complete one of the same version stays, unless it is the documents': that expires.
func (g *Gateway) writeSnapshot(ctx context.Context, id es.AggregateID, snapshot es.Snapshot) error {
	packed := g.packer.Pack(snapshot.Payload)
	pieces := slices.Collect(slices.Chunk(packed.Bytes, partBytes))
	main := g.key(id, snapshot.Version)
	main["aid"], main["seq_nr"] = text(id.String()), number(snapshot.Version)
	main["payload"], main["encoding"], main["checksum"] = binary(pieces[0]), text(packed.Encoding), text(packed.Checksum)
	if len(pieces) > 1 {
		main["parts"] = number(len(pieces) - 1)
	}
	for i, piece := range pieces[1:] {
		part := partKey(main, i+1)
		part["payload"] = binary(piece)
		if _, err := g.do(ctx, put(g.settings.SnapshotTable, part, "", nil)); err != nil {
			return err
		}
	}
	_, err := g.do(ctx, put(g.settings.SnapshotTable, main, absent, nil))
	existing, exists := unmet(err)
	if !exists {
		return err
	}
	switch stored, err := g.readSnapshot(ctx, id, snapshot.Version); {
	case err != nil:
		return err
	case stored.Broken != "" || isFormer(existing):
		_, err = g.do(ctx, put(g.settings.SnapshotTable, main, "", nil))
		return err
	case existing.text("checksum") != packed.Checksum:
		return g.deleteItems(ctx, partKeys(main)...)
	}
	return nil
}

// pointTo moves the head's pointer forward, and back only if no snapshot can be read there: from old, if that is not
// before version, or from beyond the journal. It returns the version that the head points to afterwards.
func (g *Gateway) pointTo(ctx context.Context, id es.AggregateID, version, old uint64) (uint64, error) {
	_, err := g.do(ctx, g.update(g.key(id, headSeqNr), "SET snapshot_version = :version",
		"version >= :version AND (attribute_not_exists(snapshot_version) OR snapshot_version < :version "+
			"OR snapshot_version = :old OR snapshot_version > version OR NOT attribute_type(snapshot_version, :number))",
		item{":version": number(version), ":old": number(old), ":number": text("N")}))
	newer, is := unmet(err)
	switch {
	case !is:
		return version, err
	case !isFormer(newer):
		return newer.number("snapshot_version")
	}
	if err := g.adopt(ctx, id, newer); err != nil {
		return 0, err
	}
	return g.pointTo(ctx, id, version, old)
}

// trimSnapshots deletes the snapshots before the latest, beyond the number to keep, or sets their time to live. One
// that the index does not show yet is trimmed the next time.
func (g *Gateway) trimSnapshots(ctx context.Context, id es.AggregateID, latest uint64) error {
	kept := 0
	for main, err := range g.snapshotIndex(ctx, id, latest-1) {
		switch {
		case err != nil:
		case kept < g.settings.SnapshotKeep:
			kept++
		case g.settings.SnapshotTTL == 0:
			err = g.deleteSnapshot(ctx, main)
		case main["ttl"] == nil:
			err = g.expireSnapshot(ctx, main)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// deleteSnapshot deletes the main item last, so that an interrupted deletion can be found and completed.
func (g *Gateway) deleteSnapshot(ctx context.Context, main item) error {
	return g.deleteItems(ctx, append(partKeys(main), main.key())...)
}

// expireSnapshot sets the time to live, of the main item last for the same reason.
func (g *Gateway) expireSnapshot(ctx context.Context, main item) error {
	ttl := number(ceilSeconds(g.settings.Clock().Add(g.settings.SnapshotTTL)))
	for _, key := range append(partKeys(main), main.key()) {
		_, err := g.do(ctx, g.update(key, "SET #ttl = :ttl", present, item{":ttl": ttl}))
		if _, gone := unmet(err); err != nil && !gone {
			return err
		}
	}
	return nil
}
