package es_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/dynamodb/dynamodbtest"
	"example.com/threads/es/estest/notebook"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/migration"
	"example.com/threads/es/sqlstore"
)

// onEachStore runs a test with several gateways over one store, for each store that processes can share.
func onEachStore(t *testing.T, processes int, test func(t *testing.T, gateways []es.EventPersistenceGateway)) {
	t.Run("dynamodb", func(t *testing.T) {
		var gateways []es.EventPersistenceGateway
		for _, gateway := range dynamodbtest.Several(t, processes) {
			gateways = append(gateways, gateway)
		}
		test(t, gateways)
	})
	t.Run("mysql", func(t *testing.T) {
		dsn := testenv.MySQL(t)
		var gateways []es.EventPersistenceGateway
		for range processes {
			db, err := database.Open(t.Context(), dsn, database.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			if _, err := migration.Up(t.Context(), db, sqlstore.Schema()); err != nil {
				t.Fatal(err)
			}
			gateway, err := sqlstore.New(t.Context(), db, sqlstore.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			gateways = append(gateways, gateway)
		}
		test(t, gateways)
	})
}

// busy is one of several processes that write to the same aggregate.
type busy struct {
	*notebook.Service
	metrics *es.Metrics
}

func newBusy(t *testing.T, gateway es.EventPersistenceGateway) *busy {
	t.Helper()
	b := &busy{metrics: es.NewMetrics()}
	b.Service = es.NewService(notebook.Aggregate(), gateway, es.Settings{
		// The test measures fairness, not speed, so a busy machine must not fail it.
		Timeout: time.Minute, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Metrics: b.metrics,
	})
	t.Cleanup(func() {
		if err := b.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return b
}

// Clients post for this time at least, and until there are enough posts to compare shares.
const (
	measured = 2 * time.Second
	enough   = 25 // posts for each client, on average
	longest  = time.Minute
)

// Clients of one process must get as many posts through as clients of another, and no command may be given up.
func TestProcessesTakeTurns(t *testing.T) {
	for _, shape := range [][2]int{{2, 2}, {2, 8}, {3, 4}} {
		processes, posters := shape[0], shape[1]
		t.Run(fmt.Sprintf("%d processes, %d posters each", processes, posters), func(t *testing.T) {
			onEachStore(t, processes, func(t *testing.T, gateways []es.EventPersistenceGateway) {
				var services []*busy
				for _, gateway := range gateways {
					services = append(services, newBusy(t, gateway))
				}
				id := open(t, services[0].Service)
				counts := make([]atomic.Int64, processes*posters)
				var posts atomic.Int64
				began := time.Now()
				goesOn := func() bool {
					took := time.Since(began)
					return took < measured || posts.Load() < enough*int64(len(counts)) && took < longest
				}
				var group sync.WaitGroup
				for poster := range counts {
					group.Go(func() {
						for goesOn() {
							if _, err := services[poster%processes].Handle(t.Context(), request(ada, id, say(ada, "hello"))); err != nil {
								t.Errorf("poster %d: %v", poster, err)
								return
							}
							counts[poster].Add(1)
							posts.Add(1)
						}
					})
				}
				group.Wait()
				total := posts.Load()
				var all []int64
				for i := range counts {
					all = append(all, counts[i].Load())
				}
				t.Logf("%v", all)
				for poster, count := range all {
					if 2*count*int64(len(all)) < total {
						t.Errorf("poster %d at process %d got %d of %d: less than half of an even share: %v", poster, poster%processes, count, total, all)
					}
				}
			})
		})
	}
}

// A single command at one process must get through while others keep an aggregate busy at another process.
func TestASingleCommandGetsThrough(t *testing.T) {
	onEachStore(t, 2, func(t *testing.T, gateways []es.EventPersistenceGateway) {
		crowded, quiet := newBusy(t, gateways[0]), newBusy(t, gateways[1])
		id := open(t, crowded.Service)
		ctx, stop := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for ctx.Err() == nil {
					if _, err := crowded.Handle(ctx, request(ada, id, say(ada, "hello"))); err != nil && es.KindOf(err) != es.Canceled {
						t.Error(err)
						return
					}
				}
			})
		}
		for i := range 20 {
			rename := notebook.Rename{By: ada, Title: fmt.Sprint("name ", i)}
			began := time.Now()
			accepted(t, quiet.Service, request(ada, id, rename))
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("rename %d took %s", i, took)
			}
		}
		stop()
		group.Wait()
	})
}

// Without another process, fairness must not cost anything.
func TestOneProcessAloneWaitsForNobody(t *testing.T) {
	alone := newBusy(t, dynamodbtest.New(t))
	id := open(t, alone.Service)
	postsBy(t, 8, 20, func(int, int) (es.Result, error) {
		return alone.Handle(t.Context(), request(ada, id, say(ada, "hello")))
	})
	if conflicts := measuredOf(t, alone.metrics, "commands_conflicts_total"); conflicts != 0 {
		t.Errorf("a single process had %v conflicts", conflicts)
	}
}
