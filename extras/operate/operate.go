// Package operate serves what operators do on the page, below /operate of the read-model-updater. threadctl (ctl) does
// the same and more. See extras/operate/README.md.
package operate

import (
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// Letter is a dead letter for people and programs.
type Letter struct {
	Projection string    `json:"projection"`
	Tenant     string    `json:"tenant"`
	AID        string    `json:"aid"`
	SeqNr      uint64    `json:"seq_nr"`
	EventID    string    `json:"event_id"`
	Reason     string    `json:"reason"`
	Attempts   int       `json:"attempts"`
	ParkedAt   time.Time `json:"parked_at"`
	RetryAt    time.Time `json:"retry_at"`
	Event      any       `json:"event,omitempty"` // JSON if valid, otherwise text
}

// LetterOf shows one of the dead letters of all projections, without its event.
func LetterOf(letter projection.DeadLetter) Letter {
	return Letter{
		Projection: letter.Projection, Tenant: letter.Key.Tenant.String(), AID: letter.Key.String(), SeqNr: letter.SeqNr, EventID: letter.EventID,
		Reason: letter.Reason, Attempts: letter.Attempts, ParkedAt: letter.ParkedAt, RetryAt: letter.RetryAt,
	}
}

// Difference is a row that differs from the journal, for people and programs.
type Difference struct {
	Tenant   string `json:"tenant"`
	AID      string `json:"aid"`
	Row      string `json:"row"`
	What     string `json:"what"`
	Expected string `json:"expected"`
	Found    string `json:"found"`
	Repaired bool   `json:"repaired"`
}

// DifferenceOf shows a difference in the rows of an aggregate.
func DifferenceOf(key es.AggregateID, d projection.Difference, repaired bool) Difference {
	return Difference{key.Tenant.String(), key.String(), d.Row, d.What, d.Expected, d.Found, repaired}
}
