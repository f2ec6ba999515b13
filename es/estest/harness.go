package estest

import (
	"reflect"
	"testing"

	"example.com/threads/es"
)

// Settings are the gateway's settings for a test.
type Settings struct {
	KeepSnapshots int // beside the latest; others are deleted at once
	OwnerBytes    int // that files may hold; 0: the gateway's default
	TenantBytes   int
}

// Harness is a gateway over a real store, with faults of that store. All fields are required, because a fault that
// cannot be produced cannot be tested.
type Harness struct {
	Gateway es.EventPersistenceGateway

	// LoseNextAnswer lets the store execute the next Append and then loses the answer before it reaches the gateway. In
	// between it calls meanwhile, which may use the gateway.
	LoseNextAnswer func(meanwhile func())

	// HideEntries makes reads that may be stale (of an index or a replica) omit the entries for which hidden returns
	// true, until it is called again. A store without such reads uses [NothingLags].
	HideEntries func(hidden func(seqNr uint64) bool)

	// SetHead overwrites the head; the zero Head deletes it.
	SetHead func(t *testing.T, id es.AggregateID, head es.Head)

	// DamageSnapshot changes some of the bytes of a stored snapshot.
	DamageSnapshot func(t *testing.T, id es.AggregateID, version uint64)

	// RemoveSnapshot deletes a stored snapshot, or a part of it, but nothing that refers to it.
	RemoveSnapshot func(t *testing.T, id es.AggregateID, version uint64)
}

// NothingLags is the HideEntries of a store that always reads its journal consistently.
func NothingLags(func(seqNr uint64) bool) {}

// Open returns a gateway with these settings and no faults, for one test.
type Open func(t *testing.T, settings Settings) Harness

// Run tests the gateway against the contract of es.EventPersistenceGateway.
func Run(t *testing.T, open Open) {
	run(t, open, []group{
		{"append", appendContracts},
		{"concurrency", concurrencyContracts},
		{"lost answer", lostAnswerContracts},
		{"receipts", receiptContracts},
		{"entries", entriesContracts},
		{"lookup", lookupContracts},
		{"snapshots", snapshotContracts},
		{"broken snapshots", brokenSnapshotContracts},
		{"wrong heads", wrongHeadContracts},
		{"tenants", tenantContracts},
		{"context", contextContracts},
	})
}

// RunJournal tests the gateway against the contract of es.Journal.
func RunJournal(t *testing.T, open Open) { run(t, open, []group{{"journal", journalContracts}}) }

// RunSequences tests the gateway against the contract of Draw in es.Store.
func RunSequences(t *testing.T, open Open) { run(t, open, []group{{"sequences", sequenceContracts}}) }

// RunSpool tests the gateway against the contract of es.Spool.
func RunSpool(t *testing.T, open Open) { run(t, open, []group{{"spool", spoolContracts}}) }

type group struct {
	name  string
	tests []contract
}

func run(t *testing.T, open Open, groups []group) {
	for _, group := range groups {
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

// as returns the gateway as an optional interface.
func as[T any](t *testing.T, h Harness) T {
	t.Helper()
	able, is := h.Gateway.(T)
	if !is {
		t.Fatalf("a gateway of type %T is no %T", h.Gateway, able)
	}
	return able
}

func start(t *testing.T, open Open, settings Settings) Harness {
	t.Helper()
	h := open(t, settings)
	for field, value := range reflect.ValueOf(h).Fields() {
		if value.IsZero() {
			t.Fatalf("the harness has no %s", field.Name)
		}
	}
	return h
}
