package dynamodb

import (
	"context"
	"errors"
	"slices"

	"example.com/threads/es"
)

// partBytes is the maximum number of bytes of a snapshot in one item; DynamoDB's limit for an item is 400 KB.
const partBytes = 300_000

// SaveSnapshot writes the parts, then the main item, which completes the snapshot, then the head's pointer, which makes
// it the latest. A process that dies in between leaves unused parts, which only cost storage. A pointer to a broken
// snapshot is replaced.
func (g *Gateway) SaveSnapshot(ctx context.Context, id es.AggregateID, snapshot es.Snapshot) error {
	return Explain(ctx, g.saveSnapshot(ctx, id, snapshot), "save a snapshot of %s", id)
}

func (g *Gateway) saveSnapshot(ctx context.Context, id es.AggregateID, snapshot es.Snapshot) error {
	head, err := g.Head(ctx, id)
	if err != nil {
		return err
	}
	if err := head.Check(snapshot); err != nil {
		return err
	}
	if snapshot.Version <= head.SnapshotVersion {
		if _, err := g.readSnapshot(ctx, id, head.SnapshotVersion); !errors.Is(err, errBroken) {
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

// writeSnapshot stores a snapshot. A complete one of the same version is kept, so that it never changes while it is
// read, but not one of the documents' form, which may expire.
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
	if _, err := g.readSnapshot(ctx, id, snapshot.Version); errors.Is(err, errBroken) || isFormer(existing) {
		_, err := g.do(ctx, put(g.settings.SnapshotTable, main, "", nil))
		return err
	}
	if existing.text("checksum") != packed.Checksum {
		return g.deleteParts(ctx, main)
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

// trimSnapshots deletes the snapshots before the latest, beyond the number to keep, or sets their time to live. The
// index lists them; one that it does not show yet is trimmed the next time.
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
	if err := g.deleteParts(ctx, main); err != nil {
		return err
	}
	return g.deleteItem(ctx, main.key())
}

func (g *Gateway) deleteParts(ctx context.Context, main item) error {
	parts, err := partKeys(main)
	for _, part := range parts {
		if err := g.deleteItem(ctx, part); err != nil {
			return err
		}
	}
	return err
}

// expireSnapshot sets the time to live, of the main item last for the same reason.
func (g *Gateway) expireSnapshot(ctx context.Context, main item) error {
	keys, err := partKeys(main)
	if err != nil {
		return err
	}
	ttl := number(ceilSeconds(g.settings.Clock().Add(g.settings.SnapshotTTL)))
	for _, key := range append(keys, main.key()) {
		_, err := g.do(ctx, g.update(key, "SET #ttl = :ttl", present, item{":ttl": ttl}))
		if _, gone := unmet(err); err != nil && !gone {
			return err
		}
	}
	return nil
}
