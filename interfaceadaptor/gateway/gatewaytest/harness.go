package gatewaytest

import (
	"testing"

	"example.com/threads/interfaceadaptor/eventstore"
)

// Settings are what a test needs the gateway to be set to.
type Settings struct {
	KeepSnapshots int // beside the latest; others are deleted at once
}

// Harness is a gateway over a real store, and faults of that store. All fields are required: a gateway whose test can't
// bring about a fault has not been tested for it.
type Harness struct {
	Gateway eventstore.EventPersistenceGateway

	// LoseNextAnswer lets the next Append reach the store and be done there, and then loses the answer on its way to the
	// gateway. In between it calls meanwhile, which may use the gateway.
	LoseNextAnswer func(meanwhile func())

	// HideEntries makes the reads that may lag behind the journal - those of an index, a replica - leave out the entries that
	// hidden tells, until it is called again. A store without such reads says so with [NothingLags].
	HideEntries func(hidden func(seqNr uint64) bool)

	// SetHead makes the head say something else than what was written; the zero Head takes it away.
	SetHead func(t *testing.T, id eventstore.AggregateID, head eventstore.Head)

	// DamageSnapshot changes some of the bytes of a stored snapshot.
	DamageSnapshot func(t *testing.T, id eventstore.AggregateID, version uint64)

	// RemoveSnapshot deletes a stored snapshot, or a part of it, and leaves everything that refers to it.
	RemoveSnapshot func(t *testing.T, id eventstore.AggregateID, version uint64)
}

// NothingLags is the HideEntries of a store that reads its journal from one place, consistently: there is nothing that
// could hide an entry.
func NothingLags(func(seqNr uint64) bool) {}

// Open makes a gateway with these settings and with no fault, for one test.
type Open func(t *testing.T, settings Settings) Harness

// Run puts the gateway through the contract.
func Run(t *testing.T, open Open) {
	for _, group := range []struct {
		name  string
		tests []contract
	}{
		{"append", appendContracts},
		{"concurrency", concurrencyContracts},
		{"lost answer", lostAnswerContracts},
		{"receipts", receiptContracts},
		{"entries", entriesContracts},
		{"snapshots", snapshotContracts},
		{"broken snapshots", brokenSnapshotContracts},
		{"wrong heads", wrongHeadContracts},
		{"heads", headsContracts},
		{"tenants", tenantContracts},
		{"context", contextContracts},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, test := range group.tests {
				t.Run(test.name, func(t *testing.T) { test.run(t, start(t, open, test.settings)) })
			}
		})
	}
}

type contract struct {
	name     string
	settings Settings
	run      func(t *testing.T, h Harness)
}

func start(t *testing.T, open Open, settings Settings) Harness {
	t.Helper()
	h := open(t, settings)
	switch {
	case h.Gateway == nil:
		t.Fatal("the harness has no Gateway")
	case h.LoseNextAnswer == nil:
		t.Fatal("the harness has no LoseNextAnswer")
	case h.HideEntries == nil:
		t.Fatal("the harness has no HideEntries; a store where nothing lags says NothingLags")
	case h.SetHead == nil:
		t.Fatal("the harness has no SetHead")
	case h.DamageSnapshot == nil:
		t.Fatal("the harness has no DamageSnapshot")
	case h.RemoveSnapshot == nil:
		t.Fatal("the harness has no RemoveSnapshot")
	}
	return h
}
