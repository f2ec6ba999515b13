// Counter is a whole CQRS and event-sourcing system in one file: commands over HTTP, events and rows in SQLite, queries
// that wait for a version. Kill it at any time and start it again: what was acknowledged is there, once.
//
//	go run . &
//	id=01H42K4ABWQ5V2XQEP3A48VE0Z
//	curl -X POST -H 'Idempotency-Key: first' "localhost:8080/counters/$id/add?by=3"
//	curl "localhost:8080/counters/$id?version=1"
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"example.com/threads/es"
	"example.com/threads/es/rowstore"
	"example.com/threads/es/run"
	"example.com/threads/es/sqlstore"
)

type (
	Counter struct{ Value int } // what decisions need
	Add     struct{ By int }    // a command
	Added   struct{ By int }    // an event
	Total   struct{ Value int } // a row
)

var counters = es.Aggregate[Counter, Add, Added]{
	Decide: func(c Counter, add Add) ([]Added, error) {
		if c.Value+add.By < 0 {
			return nil, es.Reject(es.Conflict, "below_zero", "the counter would fall below zero")
		}
		return []Added{{add.By}}, nil
	},
	Apply:  func(c Counter, e Added) Counter { return Counter{c.Value + e.By} },
	Events: es.NewCodec("counter", nil, es.Plain[Added, Added]("CounterAdded")),
}

var totals = rowstore.JSONRows[Added, Total]{
	Table: "totals", Version: 1, Events: counters.Events,
	Fold: func(row Total, e es.Recorded[Added]) (Total, error) { return Total{row.Value + e.Event.By}, nil },
}

func main() {
	file := flag.String("file", "counter.db", "the SQLite file")
	address := flag.String("address", "localhost:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, *file, *address); err != nil {
		fmt.Fprintln(os.Stderr, "counter:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, file, address string) error {
	store, err := sqlstore.OpenFile(ctx, file)
	if err != nil {
		return err
	}
	if err := totals.Create(ctx, store.DB); err != nil {
		return err
	}
	commands := es.NewService(counters, store, es.Settings{})

	mux := http.NewServeMux()
	mux.HandleFunc("POST /counters/{id}/add", func(w http.ResponseWriter, r *http.Request) {
		by, err := strconv.Atoi(r.FormValue("by"))
		if _, wrong := ulid.ParseStrict(r.PathValue("id")); wrong != nil || err != nil {
			answer(w, nil, &es.InvalidError{Field: "the request", Reason: "needs a ULID in its path and a number by"})
			return
		}
		result, err := commands.Handle(r.Context(), es.Request[Add]{
			ID: r.PathValue("id"), Command: Add{by}, Name: "Add", Content: strconv.Itoa(by), IdempotencyKey: r.Header.Get("Idempotency-Key"),
		})
		answer(w, map[string]any{"version": result.Version, "repeated": result.Replayed}, err)
	})
	mux.HandleFunc("GET /counters/{id}", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		defer cancel()
		atLeast, _ := strconv.ParseUint(r.FormValue("version"), 10, 64) // without a number: any version
		row, version, err := totals.Read(ctx, store.DB, es.AggregateID{Type: "counter", ID: r.PathValue("id")}, atLeast)
		answer(w, map[string]any{"value": row.Value, "version": version}, err)
	})

	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	fmt.Println("listening on http://" + listener.Addr().String())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	running, ctx := errgroup.WithContext(ctx)
	running.Go(func() error {
		return run.Follow(ctx, store, totals.Table, []string{totals.Table}, totals.Handler())
	})
	running.Go(func() error { return server.Serve(listener) })
	running.Go(func() error {
		<-ctx.Done()
		return server.Shutdown(context.WithoutCancel(ctx))
	})
	if err = running.Wait(); errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	ctx = context.WithoutCancel(ctx)
	return errors.Join(err, commands.Close(ctx), store.Close(ctx))
}

var statuses = map[es.Kind]int{
	es.Invalid: http.StatusBadRequest, es.Conflict: http.StatusConflict, es.KeyReused: http.StatusUnprocessableEntity,
	es.Unavailable: http.StatusServiceUnavailable, es.Behind: http.StatusServiceUnavailable,
}

func answer(w http.ResponseWriter, value map[string]any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		status, known := statuses[es.KindOf(err)]
		if !known {
			slog.Default().Error("a request failed", "error", err)
			status, err = http.StatusInternalServerError, errors.New("the server failed")
		}
		w.WriteHeader(status)
		value = map[string]any{"error": err.Error()}
	}
	_ = json.NewEncoder(w).Encode(value) // fails only when the client has gone
}
