package sqlstore_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es/sqlstore"
)

// BenchmarkAppend appends one entry with a receipt at a time; each client, as many as the name says, has an aggregate
// of its own. raw is the baseline: equally durable transactions of one row, one after the other, on a similar file.
func BenchmarkAppend(b *testing.B) {
	for kind, open := range map[string]func(testing.TB) *sqlx.DB{"sqlite": openSQLite, "mysql": openMySQL} {
		b.Run(kind, func(b *testing.B) {
			var raw float64
			b.Run("raw", func(b *testing.B) { raw = rawRows(b, open(b)) })
			for _, clients := range []int{1, 8, 32} {
				b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
					b.ReportMetric(appends(b, open(b), clients)/raw, "times-raw")
				})
			}
		})
	}
}

// rawRows returns the transactions per second.
func rawRows(b *testing.B, db *sqlx.DB) float64 {
	db.MustExecContext(b.Context(), "CREATE TABLE raw_rows (id INTEGER PRIMARY KEY, content VARCHAR(4000) NOT NULL)")
	conn, err := db.Connx(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	insert, err := conn.PreparexContext(b.Context(), "INSERT INTO raw_rows (id, content) VALUES (?, ?)")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = insert.Close() }()
	content := string(write(newID(), 0, 1).Entries[0].Payload)
	id := 0
	for b.Loop() {
		id++
		if _, err := insert.ExecContext(b.Context(), id, content); err != nil {
			b.Fatal(err)
		}
	}
	return perSecond(b)
}

// appends returns the appends per second.
func appends(b *testing.B, db *sqlx.DB, clients int) float64 {
	var commits atomic.Int64
	gateway := newGateway(b, db)
	gateway.OnCommit(func() { commits.Add(1) })
	todo := make(chan struct{})
	var done sync.WaitGroup
	for range clients {
		done.Go(func() { appendEach(b, gateway, todo) })
	}
	for b.Loop() {
		todo <- struct{}{}
	}
	close(todo)
	done.Wait()
	b.ReportMetric(float64(b.N)/float64(commits.Load()), "commands/commit")
	return perSecond(b)
}

func perSecond(b *testing.B) float64 {
	rate := float64(b.N) / b.Elapsed().Seconds()
	b.ReportMetric(rate, "commands/s")
	return rate
}

func appendEach(b *testing.B, gateway *sqlstore.Gateway, todo <-chan struct{}) {
	id, version := newID(), uint64(0)
	for range todo {
		w := write(id, version, 1)
		w.Receipts = append(w.Receipts, receipt(w.Entries[0].CommandID))
		if err := gateway.Append(b.Context(), w); err != nil {
			b.Error(err)
			return
		}
		version++
	}
}
