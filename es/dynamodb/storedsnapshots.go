package dynamodb

import (
	"context"
	"errors"
	"iter"

	"example.com/threads/es"
)

// StoredSnapshots implements [es.Maintainer]. The state after event 1, in the head item, is none of them.
func (g *Gateway) StoredSnapshots(ctx context.Context, id es.AggregateID) iter.Seq2[es.StoredSnapshot, error] {
	return func(yield func(es.StoredSnapshot, error) bool) {
		fail := func(err error) { yield(es.StoredSnapshot{}, explain(ctx, err, "read the snapshots of %s", id)) }
		for main, err := range g.belongings(ctx, g.settings.SnapshotTable, id, "pkey", "skey", "aid", "seq_nr", formerNumber, "ttl") {
			if err != nil {
				fail(err)
				return
			}
			place, version, err := placeOf(main.text("pkey"), main.text("skey"))
			if err != nil || place != id || version == headSeqNr || g.expired(main) {
				continue // a part, the head, or expired and about to be deleted by DynamoDB
			}
			stored := es.StoredSnapshot{Version: version, Unlisted: isFormer(main)}
			main = readFormer(main)
			if faults := expect(expect(nil, main, "aid", text(id.String())), main, "seq_nr", number(version)); len(faults) > 0 {
				stored.Broken = "its " + faults[0].Field + " is " + faults[0].Found + ", so that the index does not show it"
			}
			read, err := g.readSnapshot(ctx, id, version)
			switch {
			case errors.Is(err, errBroken):
				stored.Broken = err.Error()
			case err != nil:
				fail(err)
				return
			case stored.Broken == "":
				stored.Payload = read.Payload
			}
			if !yield(stored, nil) {
				return
			}
		}
	}
}

// expired reports whether the item's time to live is over. An invalid time never expires.
func (g *Gateway) expired(found item) bool {
	ttl, err := found.number("ttl")
	return err == nil && ttl > 0 && int64(ttl) <= g.settings.Clock().Unix()
}

// DropSnapshot implements [es.Maintainer]. Parts that the main item does not list stay, and cost storage.
func (g *Gateway) DropSnapshot(ctx context.Context, id es.AggregateID, version uint64) error {
	main, err := g.getItem(ctx, g.settings.SnapshotTable, g.key(id, version))
	if err == nil && len(main) > 0 {
		if _, unreadable := partKeys(main); unreadable != nil {
			delete(main, "parts")
		}
		err = g.deleteSnapshot(ctx, main)
	}
	return explain(ctx, err, "drop a snapshot of %s", id)
}
