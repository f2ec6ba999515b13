package es_test

import (
	"context"
	"fmt"
	"log/slog"

	"example.com/threads/es"
	esprocess "example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

// A process manager is a projection whose rows are commands: here, each bolt leads to a nut. The commands are stored in
// the transaction of the position and sent afterwards, with the same idempotency key each time.
func Example_processManager() {
	ctx := context.Background()
	w := openWarehouse(ctx)
	defer w.close()
	positions, err := rowstore.New(w.store.DB, "nuts for bolts")
	check(err)
	commands := esprocess.New(w.store.DB, positions, "nuts for bolts", slog.Default())
	projector := projection.New(positions, w.store, projection.Options{}, nutsForBolts{commands})
	send := func(ctx context.Context, caller es.Caller, key string, c esprocess.Command) error {
		_, err := w.Handle(ctx, es.Request[Move]{Caller: caller, ID: c.Target.ID, Name: c.Name, Content: "1", Command: Move{1}, IdempotencyKey: key})
		return err
	}

	w.move(ctx, bolts, 1)
	for range 2 { // as after a crash: what was projected, or sent, is not so again
		_, err = projector.Project(ctx, projection.Batch{Records: []projection.Record{{Key: bolts, SeqNr: 1}}})
		check(err)
		sent, err := commands.SendDue(ctx, send)
		fmt.Println(sent, "sent", err)
	}
	state, err := w.Load(ctx, nuts)
	fmt.Println(state.Value.Pieces, "nut", err)
	// Output:
	// 1 sent <nil>
	// 0 sent <nil>
	// 1 nut <nil>
}

// nutsForBolts is the handler that makes the commands.
type nutsForBolts struct{ outbox *esprocess.Outbox }

func (nutsForBolts) Type() string { return "shelf" }

func (nutsForBolts) DecodeEvent(payload []byte) (projection.Event, error) {
	return shelves.DecodeEvent(payload)
}

func (n nutsForBolts) Load(context.Context, projection.Tx, []projection.Event) (projection.Fold, error) {
	return &newCommands{nutsForBolts: n}, nil
}

type newCommands struct {
	nutsForBolts
	commands []esprocess.Command
}

func (n *newCommands) Apply(event projection.Event) error {
	if event.Aggregate() == bolts && event.Event.(Moved).Pieces > 0 {
		command := esprocess.Command{Target: nuts, Name: "Move", EventID: event.EventID, CausationID: event.EventID}
		n.commands = append(n.commands, command)
	}
	return nil
}

func (n *newCommands) Save(ctx context.Context, tx projection.Tx) error {
	return n.outbox.Add(ctx, tx, n.commands)
}
