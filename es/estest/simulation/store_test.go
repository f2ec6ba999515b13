package simulation

import (
	"os"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/estest"
)

// The store of the simulated world is held to the contract of the real ones.
func TestTheStoreKeepsTheContract(t *testing.T) {
	open := func(_ *testing.T, settings estest.Settings) estest.Harness {
		s := newStore()
		s.keep = settings.KeepSnapshots
		change := func(id es.AggregateID, change func(*aggregate)) {
			s.mutex.Lock()
			defer s.mutex.Unlock()
			if change(s.at(id)); s.at(id).version == 0 {
				s.aggregates[id] = s.at(id)
			}
		}
		var gateway es.EventPersistenceGateway = s
		if of := broken[os.Getenv(brokenVar)].of; of != nil {
			gateway = of(s)
		}
		return estest.Harness{
			Gateway:        gateway,
			LoseNextAnswer: func(meanwhile func()) { s.meanwhile = meanwhile },
			HideEntries:    estest.NothingLags,
			SetHead: func(_ *testing.T, id es.AggregateID, head es.Head) {
				change(id, func(a *aggregate) { a.version, a.pointer = head.Version, head.SnapshotVersion })
			},
			DamageSnapshot: func(_ *testing.T, id es.AggregateID, version uint64) {
				change(id, func(a *aggregate) { a.snapshots[version] = nil })
			},
			RemoveSnapshot: func(_ *testing.T, id es.AggregateID, version uint64) {
				change(id, func(a *aggregate) { delete(a.snapshots, version) })
			},
		}
	}
	estest.Run(t, open)
	estest.RunJournal(t, open)
}
