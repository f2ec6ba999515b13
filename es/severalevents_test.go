package es_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
	"example.com/threads/es/dynamodb/dynamodbtest"
)

// A second aggregate type: a purse, with an event for each coin that is put in.
type (
	putIn  struct{ Coins int }
	coinIn struct{ Number int }
	purse  int
)

var errNothing = errors.New("there is nothing to put in")

func purses() es.Aggregate[purse, putIn, coinIn] {
	return es.Aggregate[purse, putIn, coinIn]{
		Decide: func(p purse, c putIn) (events []coinIn, err error) {
			for i := range c.Coins {
				events = append(events, coinIn{int(p) + i + 1})
			}
			if c.Coins == 0 {
				err = errNothing
			}
			return events, err
		},
		Apply:  func(p purse, _ coinIn) purse { return p + 1 },
		Answer: func(events []coinIn) map[string]string { return map[string]string{"coins": fmt.Sprint(len(events))} },
		Events: es.NewCodec("purse", nil, es.Plain[coinIn, coinIn]("CoinIn")),
	}
}

func openPurses(t *testing.T, gateway es.EventPersistenceGateway, purses es.Aggregate[purse, putIn, coinIn]) *es.Service[purse, putIn, coinIn] {
	t.Helper()
	service := es.NewService(purses, gateway, es.Settings{Timeout: time.Minute, SnapshotEvery: 50, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	t.Cleanup(func() { _ = service.Close(t.Context()) })
	return service
}

func put(id string, coins int, key string) es.Request[putIn] {
	return es.Request[putIn]{
		Caller: es.Caller{Executor: id, Source: "test"}, ID: id, Command: putIn{coins}, Name: "purse.PutIn", Content: fmt.Sprint(coins), IdempotencyKey: key,
	}
}

// Concurrent commands of several events, with keys and without, must not be split, and no write may be too large.
func TestCommandsOfSeveralEvents(t *testing.T) {
	onEachStore(t, 2, func(t *testing.T, gateways []es.EventPersistenceGateway) {
		services := []*es.Service[purse, putIn, coinIn]{openPurses(t, gateways[0], purses()), openPurses(t, gateways[1], purses())}
		id := ulid.Make().String()
		const commands, coins = 30, 7
		var group sync.WaitGroup
		for number := range commands {
			group.Go(func() {
				key := ""
				if number%2 == 0 {
					key = fmt.Sprint("key ", number)
				}
				result, err := services[number%2].Handle(t.Context(), put(id, coins, key))
				if err != nil || result.About["coins"] != "7" || result.Version%coins != 0 || result.Key.String() != "purse-"+id {
					t.Errorf("command %d: %+v, %v", number, result, err)
				}
			})
		}
		group.Wait()
		again, err := services[1].Handle(t.Context(), put(id, coins, "key 0"))
		if err != nil || !again.Replayed || again.About["coins"] != "7" {
			t.Errorf("a repeat: %+v, %v", again, err)
		}
		if version, err := openPurses(t, gateways[0], purses()).Snapshot(t.Context(), es.Caller{}, id); version != commands*coins || err != nil {
			t.Errorf("another process loads version %d, %v", version, err)
		}
		if _, err := services[0].Handle(t.Context(), put(ulid.Make().String(), 100, "")); err == nil {
			t.Error("100 events were written at once")
		}
	})
}

// An event that can't be decoded, or is decoded as another event, must not be acknowledged.
func TestAnEventThatCannotBeReadBackIsNotWritten(t *testing.T) {
	gateway := dynamodbtest.New(t)
	for about, codec := range map[string]*es.Codec[coinIn]{
		"refused": es.NewCodec("purse", nil, es.Event[coinIn]("CoinIn",
			func(e coinIn) coinIn { return e }, func(e coinIn) (coinIn, error) { return e, errors.New("false coin") })),
		"changed": es.NewCodec("purse", nil, es.Event[coinIn]("CoinIn",
			func(e coinIn) coinIn { return e }, func(e coinIn) (coinIn, error) { return coinIn{e.Number + 1}, nil })),
		"an invalid id": es.NewCodec("purse", func(text string) (string, error) { return strings.ToLower(text), nil },
			es.Plain[coinIn, coinIn]("CoinIn")),
		"not in the table": es.NewCodec[coinIn]("purse", nil),
	} {
		id := ulid.Make().String()
		purses := purses()
		purses.Events = codec
		if _, err := openPurses(t, gateway, purses).Handle(t.Context(), put(id, 1, "")); es.KindOf(err) != es.Internal || err == nil {
			t.Errorf("%s: got %v", about, err)
		}
		if head, err := gateway.Head(t.Context(), es.AggregateID{Type: "purse", ID: id}); head.Version != 0 || err != nil {
			t.Errorf("%s: written: %+v, %v", about, head, err)
		}
	}
}
