package simulation

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/es"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

// The aggregate of the simulation: a purse whose amount is never below zero. A gift takes from one purse, and a process
// manager puts the same into another.
type (
	purse  struct{ Amount, Events int }
	change struct {
		By, Parts int    // an event for each part
		Ref       string // names the command
		To        string // of a gift
	}
	changed struct {
		By, Amount, Events int // Amount and Events: of the state after it
		Ref, To            string
	}
)

var errTooLittle = es.Reject(es.Conflict, "too_little", "there is too little in the purse")

var codec = es.NewCodec[changed]("purse", nil, es.Plain[changed, changed]("Changed"))

var purses = es.Aggregate[purse, change, changed]{
	Events: codec,
	Apply:  func(_ purse, e changed) purse { return purse{e.Amount, e.Events} },
	Decide: func(p purse, c change) (events []changed, err error) {
		for range c.Parts {
			p = purse{p.Amount + c.By, p.Events + 1}
			events = append(events, changed{c.By, p.Amount, p.Events, c.Ref, c.To})
		}
		if p.Amount < 0 {
			return nil, errTooLittle
		}
		return events, nil
	},
}

// row is the sum of the events, which the fold makes itself.
type row struct {
	Amount, Events int
	Refs           []string
}

func fold(r row, e changed) row {
	refs := append(append([]string(nil), r.Refs...), e.Ref)
	return row{r.Amount + e.By, r.Events + 1, refs}
}

var pursesRows = rowstore.JSONRows[changed, row]{
	Table: "purses", Events: codec,
	Fold: func(r row, event es.Recorded[changed]) (row, error) { return fold(r, event.Event), nil },
}

var errInapplicable = errors.New("the event is inapplicable")

// pursesOf returns the rows of a world in which events can be inapplicable.
func pursesOf(w *world) projection.Handler {
	made := pursesRows
	made.Fold = func(r row, event es.Recorded[changed]) (row, error) {
		if w.steps < w.inapplicable && !w.calm {
			return r, errInapplicable
		}
		return fold(r, event.Event), nil
	}
	return made.Handler()
}

// gifts is the process manager: its handler stores a command for each event that is a gift.
type gifts struct{ outbox *process.Outbox }

func (gifts) Type() string { return codec.Type() }

func (gifts) DecodeEvent(payload []byte) (projection.Event, error) {
	return purses.DecodeEvent(payload)
}

func (g gifts) Load(context.Context, projection.Tx, []projection.Event) (projection.Fold, error) {
	return &giving{outbox: g.outbox}, nil
}

type giving struct {
	outbox   *process.Outbox
	commands []process.Command
}

func (g *giving) Apply(event projection.Event) error {
	if e := event.Event.(changed); e.To != "" {
		g.commands = append(g.commands, process.Command{
			Target: es.AggregateID{Type: codec.Type(), ID: e.To}, EventID: event.EventID, Name: fmt.Sprint(-e.By),
			Executor: event.Executor, CausationID: event.EventID, CorrelationID: event.CorrelationID,
		})
	}
	return nil
}

func (g *giving) Save(ctx context.Context, tx projection.Tx) error {
	if len(g.commands) == 0 {
		return nil
	}
	return g.outbox.Add(ctx, tx, g.commands)
}
