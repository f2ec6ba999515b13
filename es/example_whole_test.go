package es_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"example.com/threads/es"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/run"
	"example.com/threads/es/sqlstore"
)

// A wallet is an aggregate: its commands are decided one after the other, each on its latest state.
type (
	Wallet   struct{ Cents int } // the state, as far as decisions need it
	Receive  struct{ Cents int } // a command
	Spend    struct{ Cents int } // another one
	Received struct{ Cents int } // an event
	Spent    struct{ Cents int } // another one
	Balance  struct{ Cents int } // the row that queries read
)

// The sets of commands and of events.
type (
	WalletCommand interface {
		decide(p Wallet) ([]WalletEvent, error)
	}
	WalletEvent interface{ change() int }
)

func (c Receive) decide(Wallet) ([]WalletEvent, error) { return []WalletEvent{Received(c)}, nil }

func (c Spend) decide(p Wallet) ([]WalletEvent, error) {
	if c.Cents > p.Cents {
		return nil, es.Reject(es.Conflict, "too_little", "there is too little in the wallet")
	}
	return []WalletEvent{Spent(c)}, nil
}

func (e Received) change() int { return e.Cents }
func (e Spent) change() int    { return -e.Cents }

var wallets = es.Aggregate[Wallet, WalletCommand, WalletEvent]{
	Decide: func(p Wallet, c WalletCommand) ([]WalletEvent, error) { return c.decide(p) },
	Apply:  func(p Wallet, e WalletEvent) Wallet { return Wallet{p.Cents + e.change()} },
	Events: es.NewCodec("wallet", nil, es.Plain[WalletEvent, Received]("WalletReceived"), es.Plain[WalletEvent, Spent]("WalletSpent")),
}

var balances = rowstore.JSONRows[WalletEvent, Balance]{
	Table: "balances", Version: 1, Events: wallets.Events,
	Fold: func(row Balance, e es.Recorded[WalletEvent]) (Balance, error) {
		return Balance{row.Cents + e.Event.change()}, nil
	},
}

// Commands become events, which become a row.
func Example() {
	ctx := context.Background()
	folder, _ := os.MkdirTemp("", "wallets")
	defer func() { _ = os.RemoveAll(folder) }()
	store, err := sqlstore.OpenFile(ctx, filepath.Join(folder, "wallets.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = store.Close(ctx) }()
	service := es.NewService(wallets, store, es.Settings{})
	defer func() { _ = service.Close(ctx) }()

	// The write side: a command is stored as an event, once, however often it comes, or it is rejected.
	mine := es.AggregateID{Type: "wallet", ID: "01H42K4ABWQ5V2XQEP3A48VE0Z"}
	gift := es.Request[WalletCommand]{ID: mine.ID, Name: "Receive", Command: Receive{500}, Content: "500", IdempotencyKey: "grandma 2026"}
	first, err := service.Handle(ctx, gift)
	fmt.Println("version", first.Version, err)
	again, err := service.Handle(ctx, gift)
	fmt.Println("version", again.Version, err, again.Replayed)
	_, err = service.Handle(ctx, es.Request[WalletCommand]{ID: mine.ID, Name: "Spend", Command: Spend{700}})
	fmt.Println(es.KindOf(err), "-", err)

	// The read side follows the events. Who names a version waits until the row has it.
	if err := balances.Create(ctx, store.DB); err != nil {
		fmt.Println(err)
	}
	following, end := context.WithCancel(ctx)
	defer end()
	ended := make(chan error, 1)
	go func() {
		ended <- run.Follow(following, store, balances.Table, []string{balances.Table}, balances.Handler())
	}()
	row, version, err := balances.Read(ctx, store.DB, mine, first.Version)
	fmt.Println(row.Cents, "cents at version", version, err)
	end()
	fmt.Println(<-ended)
	// Output:
	// version 1 <nil>
	// version 1 <nil> true
	// conflict - there is too little in the wallet
	// 500 cents at version 1 <nil>
	// <nil>
}
