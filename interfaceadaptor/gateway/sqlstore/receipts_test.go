package sqlstore_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/interfaceadaptor/eventstore"
)

// Concurrent repeats of a command share a lock on its receipt. None may request a stronger lock, because that would
// deadlock.
func TestRepeatsAtOnceDoNotStandInOneAnothersWay(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		gateway := newGateway(t, db)
		seed := write(newID(), 0, 1)
		seed.Receipts = []eventstore.Receipt{receipt(seed.Entries[0].CommandID)}
		mustAppend(t, gateway, seed)
		var repeating sync.WaitGroup
		for range 32 {
			repeating.Go(func() {
				for range 20 {
					again := write(newID(), 0, 1) // a repeated creation of a thread has another id each time
					again.Receipts = seed.Receipts
					var handled *eventstore.HandledError
					if err := gateway.Append(t.Context(), again); !errors.As(err, &handled) {
						t.Error(err)
						return
					}
				}
			})
		}
		repeating.Wait()
	})
}

func TestReceiptsArePruned(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		gateway := newGateway(t, db)
		now := time.Now()
		add := func(expires time.Time) string {
			given := write(newID(), 0, 1)
			made := receipt(given.Entries[0].CommandID)
			made.ExpiresAt = expires
			given.Receipts = []eventstore.Receipt{made}
			mustAppend(t, gateway, given)
			return made.CommandID
		}
		young := add(now.Add(time.Hour))
		for range 3 {
			add(now.Add(-time.Hour))
		}
		for _, dryRun := range []bool{true, false} {
			if pruned, err := gateway.PruneReceipts(t.Context(), now, dryRun); err != nil || pruned != 3 {
				t.Errorf("dry run %t: %d pruned, %v", dryRun, pruned, err)
			}
		}
		if pruned, err := gateway.PruneReceipts(t.Context(), now, false); err != nil || pruned != 0 {
			t.Errorf("again: %d pruned, %v", pruned, err)
		}
		if _, found, err := gateway.Receipt(t.Context(), "", young); !found || err != nil {
			t.Errorf("a receipt that has not expired: %t, %v", found, err)
		}
	})
}
