package faulty

import (
	"math/rand/v2"
	"slices"

	"example.com/threads/es/projection"
)

// Delivery describes the faults of a source. The zero value delivers perfectly.
type Delivery struct {
	Lost    int // percent of records lost
	Doubled int // percent delivered twice
	Broken  int // percent corrupted
	Moved   int // how many places late a record comes at most
}

// Deliver returns the records with these faults.
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

// Unreadable returns a record that no handler can decode: its payload is cut short.
func Unreadable(record projection.Record) projection.Record {
	record.Payload = record.Payload[:max(len(record.Payload), 1)-1]
	return record
}
