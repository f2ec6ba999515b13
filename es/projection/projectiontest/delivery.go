package projectiontest

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"example.com/threads/es"
	"example.com/threads/es/estest/faulty"
	"example.com/threads/es/projection"
)

func inOrder(t *testing.T, db Database) {
	journal := NewJournal()
	random := mathrand.New(mathrand.NewPCG(1, 2))
	s := begin(t, journal, "acme")
	for range 200 {
		s.anything(random)
	}
	projector := newProjector(db, journal, newClock())
	records := s.all()
	expectOutcome(t, project(t, projector, records...), projection.Outcome{Applied: len(records)})
	expectRows(t, db, journal)
	expectOutcome(t, project(t, projector, records...), projection.Outcome{Duplicates: len(records)})
	expectRows(t, db, journal)
}

// anyDelivery: however a source delivers valid events, and wherever the projector crashes, the rows finally match the
// journal.
func anyDelivery(t *testing.T, db Database) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		count := rapid.IntRange(1, 4).Draw(rt, "ledgers")
		steps := rapid.IntRange(0, 60).Draw(rt, "steps")
		loss := rapid.IntRange(0, 60).Draw(rt, "percent lost")
		doubles := rapid.IntRange(0, 60).Draw(rt, "percent doubled")
		window := rapid.IntRange(0, 30).Draw(rt, "places moved at most")
		largest := rapid.IntRange(1, 40).Draw(rt, "largest batch")
		crashes := rapid.IntRange(0, 40).Draw(rt, "percent of transactions that crash")
		random := mathrand.New(mathrand.NewPCG(seed, 0))

		journal := NewJournal()
		told := history(rt, journal, random, count, steps)
		told = faulty.Delivery{Lost: loss, Doubled: doubles, Broken: 2, Moved: window}.Deliver(told, random)
		projector := newProjector(&crashing{Database: db, random: random, percent: crashes}, journal, newClock())
		for len(told) > 0 {
			n := min(1+random.IntN(largest), len(told))
			batch := projection.Batch{Records: told[:n], Checkpoint: projection.Checkpoint{Source: "any", Shard: "0", Position: fmt.Sprint(len(told))}}
			untilDone(rt, func() error { _, err := projector.Project(t.Context(), batch); return err })
			told = told[n:]
		}
		// The source may have lost a ledger's last events; only a repair finds them.
		untilDone(rt, func() error { _, err := projector.Repair(t.Context()); return err })
		if err := difference(t.Context(), db, journal); err != nil {
			rt.Fatalf("%v", err)
		}
	})
}

// history appends random events to ledgers of two tenants and returns the records in order.
func history(t tb, journal *Journal, random *mathrand.Rand, count, steps int) []projection.Record {
	var stories []*story
	known := make(map[es.AggregateID]int)
	var told []projection.Record
	for i := range count {
		stories = append(stories, begin(t, journal, []string{"", "acme"}[i%2]))
	}
	for step := range count + steps {
		s := stories[random.IntN(count)]
		if step >= count {
			s.anything(random)
		} else {
			s = stories[step]
		}
		for _, event := range journal.Of(s.key)[known[s.key]:] {
			told = append(told, recordOf(event))
			known[s.key]++
		}
	}
	return told
}

// untilDone hands a batch over again, as a source does, until it succeeds.
func untilDone(t tb, do func() error) {
	t.Helper()
	for range 200 {
		err := do()
		if err == nil {
			return
		}
		if !errors.Is(err, errCrash) {
			t.Fatalf("%v", err)
		}
	}
	t.Fatalf("not done after 200 times")
}

// crashing is a database that crashes before the commit, or after it and before the answer.
type crashing struct {
	Database
	random  *mathrand.Rand
	percent int
}

func (c *crashing) Change(ctx context.Context, change func(context.Context, projection.Tx) error) error {
	if c.random.IntN(100) >= c.percent {
		return c.Database.Change(ctx, change)
	}
	dies := errCrash
	if c.random.IntN(2) == 0 {
		dies = projection.ErrTransient
	}
	if c.random.IntN(2) == 0 {
		if err := c.Database.Change(ctx, change); err != nil {
			return err
		}
		return dies
	}
	return c.Database.Change(ctx, func(ctx context.Context, tx projection.Tx) error {
		if err := change(ctx, tx); err != nil {
			return err
		}
		return dies
	})
}
