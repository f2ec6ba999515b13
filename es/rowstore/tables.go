package rowstore

import (
	"strings"
	"time"

	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore/table"
)

type (
	positionRow struct {
		Set string `db:"projection"`
		projection.Head
		Parked bool `db:"parked"` // there is a dead letter
	}
	typeRow struct {
		Projection string `db:"projection"`
		projection.Type
		UpdatedAt time.Time `db:"updated_at"`
	}
	checkpointRow struct {
		Projection string `db:"projection"`
		projection.Checkpoint
		UpdatedAt time.Time `db:"updated_at"`
	}
	setRow struct {
		Projection string `db:"projection"`
		Name       string `db:"set_name"`
		Handlers   string `db:"handlers"`
	}
	reportRow struct {
		Projection string `db:"projection"`
		Report
		Micros int64 `db:"behind_micros"`
	}
)

var (
	positions      = table.Of[positionRow]("projection_positions", 4)
	deadLetters    = table.Of[projection.DeadLetter]("dead_letters", 4)
	aggregateTypes = table.Of[typeRow]("projection_types", 2)
	checkpoints    = table.Of[checkpointRow]("checkpoints", 3)
	sets           = table.Of[setRow]("row_sets", 1)
	rebuilds       = table.Of[RebuildState]("projection_rebuilds", 1)
	reports        = table.Of[reportRow]("projection_reports", 1)
	skips          = table.Of[Skip]("skipped_events", 5)
	skippedEvents  = skips.Without("name")
)

// Limits for unreadable values in dead letters: longer ones are cut to fit the columns.
const (
	eventIDKept = 64   // code points
	reasonKept  = 2000 // code points
	payloadKept = 1 << 20
)

// letterIn is a dead letter as it is stored in a set.
func letterIn(set string, letter projection.DeadLetter) projection.DeadLetter {
	letter.Projection, letter.EventID, letter.Reason = set, Cut(letter.EventID, eventIDKept), Cut(letter.Reason, reasonKept)
	letter.Payload = append([]byte{}, letter.Payload[:min(len(letter.Payload), payloadKept)]...)
	return letter
}

// Cut returns the first code points of a text, of which any may come.
func Cut(text string, kept int) string {
	points := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	return string(points[:min(len(points), kept)])
}
