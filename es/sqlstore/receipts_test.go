package sqlstore_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
)

// Concurrent repeats of a command share a lock on its receipt. None may request a stronger lock, because that would
// deadlock.
func TestRepeatsAtOnceDoNotStandInOneAnothersWay(t *testing.T) {
	onEach(t, func(t *testing.T, db *sqlx.DB) {
		gateway := newGateway(t, db)
		seed := write(newID(), 0, 1)
		seed.Receipts = []es.Receipt{receipt(seed.Entries[0].CommandID)}
		mustAppend(t, gateway, seed)
		var repeating sync.WaitGroup
		for range 32 {
			repeating.Go(func() {
				for range 20 {
					again := write(newID(), 0, 1) // a repeated creation of an aggregate has another id each time
					again.Receipts = seed.Receipts
					var handled *es.HandledError
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
