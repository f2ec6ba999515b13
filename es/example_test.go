package es_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"example.com/threads/es"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/run"
	"example.com/threads/es/sqlstore"
)

// The aggregate of the examples is a shelf: pieces are moved to it and from it.
type (
	Shelf struct{ Pieces int } // state
	Move  struct{ Pieces int } // command
	Moved struct{ Pieces int } // event
	Stock struct{ Pieces int } // row
)

var shelves = es.Aggregate[Shelf, Move, Moved]{
	Decide: func(s Shelf, move Move) ([]Moved, error) {
		if s.Pieces+move.Pieces < 0 {
			return nil, es.Reject(es.Conflict, "too_few", "there are too few pieces")
		}
		return []Moved{{move.Pieces}}, nil
	},
	Apply:  func(s Shelf, e Moved) Shelf { return Shelf{s.Pieces + e.Pieces} },
	Events: es.NewCodec("shelf", nil, es.Plain[Moved, Moved]("PiecesMoved")),
}

var stocks = rowstore.JSONRows[Moved, Stock]{
	Table: "stocks", Version: 1, Events: shelves.Events,
	Fold: func(row Stock, e es.Recorded[Moved]) (Stock, error) { return Stock{row.Pieces + e.Event.Pieces}, nil },
}

// Two shelves.
var (
	bolts = es.AggregateID{Type: "shelf", ID: "01H42K4ABWQ5V2XQEP3A48VE0Z"}
	nuts  = es.AggregateID{Type: "shelf", ID: "01H42KBHCW1BZG504J4ZXKA2F2"}
)

// warehouse is what the examples work with: an event store in a file of a temporary folder, and a service.
type warehouse struct {
	store *sqlstore.Gateway
	*es.Service[Shelf, Move, Moved]
	close func()
}

func openWarehouse(ctx context.Context) *warehouse {
	folder, err := os.MkdirTemp("", "warehouse")
	check(err)
	store, err := sqlstore.OpenFile(ctx, filepath.Join(folder, "warehouse.db"))
	check(err)
	check(stocks.Create(ctx, store.DB))
	service := es.NewService(shelves, store, es.Settings{})
	return &warehouse{store, service, func() {
		check(errors.Join(service.Close(ctx), store.Close(ctx), os.RemoveAll(folder)))
	}}
}

// move handles a command that nothing speaks against.
func (w *warehouse) move(ctx context.Context, shelf es.AggregateID, pieces int) es.Result {
	result, err := w.Handle(ctx, es.Request[Move]{ID: shelf.ID, Name: "Move", Command: Move{pieces}})
	check(err)
	return result
}

// project keeps the rows of stocks until stop is called.
func (w *warehouse) project(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- run.Follow(ctx, w.store, stocks.Table, []string{stocks.Table}, stocks.Handler()) }()
	return func() {
		cancel()
		check(<-done)
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
