// Package faults is what can go wrong between a journal and a projection: records that a source loses, repeats,
// reorders or breaks, and events that cannot be read. Tests inject them, and the failure lab lets people do so.
package faults

import (
	"math/rand/v2"
	"slices"

	"example.com/threads/usecase/projection"
)

// Delivery is how badly a source delivers. The zero value delivers perfectly.
type Delivery struct {
	Lost    int // percent of the records that never come
	Doubled int // percent that come twice
	Broken  int // percent that can't be read
	Moved   int // places that a record comes late at most
}

// Deliver returns the records as such a source delivers them.
func (d Delivery) Deliver(records []projection.Record, random *rand.Rand) []projection.Record {
	type moved struct {
		place  int
		record projection.Record
	}
	var delivered []moved
	for i, record := range records {
		if random.IntN(100) < d.Lost {
			continue
		}
		if random.IntN(100) < d.Broken {
			record = Unreadable(record)
		}
		delivered = append(delivered, moved{i + random.IntN(d.Moved+1), record})
		if random.IntN(100) < d.Doubled {
			delivered = append(delivered, moved{i + random.IntN(2*d.Moved+1), record})
		}
	}
	slices.SortStableFunc(delivered, func(a, b moved) int { return a.place - b.place })
	result := make([]projection.Record, len(delivered))
	for i, one := range delivered {
		result[i] = one.record
	}
	return result
}

// Unreadable returns a record that no handler can decode.
func Unreadable(record projection.Record) projection.Record {
	record.Payload = []byte("{")
	return record
}
