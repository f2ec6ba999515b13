// Package operate serves what operators do over HTTP, below /operate of the read-model-updater. threadctl (ctl) does
// the same and more. See extras/operate/README.md.
package operate

import (
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/es/run"
)

// Advise names the commands of threadctl in what the updater tells operators.
func Advise(advice *run.Advice) {
	*advice = run.Advice{
		Parked:  "`threadctl dead-letters list` says why",
		Drifted: "`threadctl rows verify` lists them, and repairs them with --repair",
		Rebuild: "run `threadctl rows rebuild`, or set REBUILD=auto",
		Resume:  "`threadctl rows rebuild --resume` continues it, --cancel ends it",
		Ignore:  "set IGNORE_AGGREGATE_TYPES=",
	}
}

// Named names an aggregate for people and programs.
type Named struct {
	Tenant es.Tenant `json:"tenant"`
	AID    string    `json:"aid"`
}

// Name names an aggregate.
func Name(id es.AggregateID) Named { return Named{id.Tenant, id.String()} }

// String returns the name in words.
func (n Named) String() string {
	if n.Tenant == "" {
		return n.AID
	}
	return n.AID + " of tenant " + n.Tenant.String()
}

// Letter is one of the dead letters of all projections, for people and programs.
type Letter struct {
	Named
	projection.DeadLetter
	Event any `json:"event,omitempty"` // JSON if valid, otherwise text
}

// LetterOf shows a dead letter, without its event.
func LetterOf(letter projection.DeadLetter) Letter {
	return Letter{Named: Name(letter.Key), DeadLetter: letter}
}

// Difference is a row that differs from the journal, for people and programs.
type Difference struct {
	Named
	projection.Difference
	Repaired bool `json:"repaired"`
}
