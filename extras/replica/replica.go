// Package replica lets the read-api read a replica of the read model's database. A request reads the replica until it
// has a reason to read the writer, which is DATABASE_URL: the replica lacks a version of its consistency token, or the
// row that its page begins after, or does not answer. From then on it reads the writer only, so that it never sees
// older rows than before.
package replica

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel/trace"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/httpserver"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/interfaceadaptor/readmodel/queryreader"
)

const (
	probeEvery   = time.Second
	probeTimeout = time.Second
	readTimeout  = 3 * time.Second
	waitShare    = 4 // a query waits on the replica for this part of READ_WAIT_TIMEOUT
)

// Settings are read from the environment.
type Settings struct{ URL string }

func ReadSettings(r *config.Reader) Settings {
	const help = "one replica of DATABASE_URL's database, for queries; without it, they read DATABASE_URL"
	return Settings{r.Group("Replica (extras/replica)").Secret("READ_DATABASE_URL", help, func(url string) error {
		if url == "" {
			return nil
		}
		_, err := database.DriverOf(url)
		return err
	})}
}

// Replica chooses the database of each reading and wait. It is safe for concurrent use.
type Replica struct {
	open    func(context.Context) (*sqlx.DB, error)
	log     *slog.Logger
	writer  *sqlx.DB
	current atomic.Pointer[session] // nil while the replica does not answer
	left    *prometheus.CounterVec
	// The watchers of versions in the replica and in the writer.
	own, others *projection.Watcher
}

// session is a time in which the replica answers. ctx ends with it.
type session struct {
	db  *sqlx.DB
	ctx context.Context //nolint:containedctx // of the session
	end context.CancelFunc
}

// Of returns the replica of the writer, in which watcher watches versions. [Replica.Run] connects to it.
func (s Settings) Of(writer *sqlx.DB, watcher *projection.Watcher, log *slog.Logger, tracer trace.TracerProvider, registry prometheus.Registerer) *Replica {
	r := &Replica{log: log, writer: writer, others: watcher}
	r.open = func(ctx context.Context) (*sqlx.DB, error) {
		return database.Open(ctx, s.URL, database.Settings{Tracer: tracer, Logger: log})
	}
	r.own = projection.NewWatcher(r.versions, slog.New(slog.DiscardHandler)) // the end of the session is logged
	r.left = promauto.With(registry).NewCounterVec(prometheus.CounterOpts{
		Name: "replica_bypassed_total", Help: "Requests that read the writer, because the replica was behind, slow or unavailable.",
	}, []string{"reason"})
	return r
}

// Run looks each second whether the replica answers, until ctx ends.
func (r *Replica) Run(ctx context.Context) {
	var watching sync.WaitGroup
	watching.Go(func() { r.own.Run(ctx) })
	defer watching.Wait()
	var db *sqlx.DB
	for first := true; first || es.Wait(ctx, probeEvery) == nil; first = false {
		var err error
		if db == nil {
			db, err = r.open(ctx)
		}
		if err == nil {
			err = check(ctx, db)
		}
		switch s := r.current.Load(); {
		case err == nil && s == nil:
			answering, end := context.WithCancel(ctx)
			r.current.Store(&session{db, answering, end})
			r.log.InfoContext(ctx, "queries read the replica")
		case err != nil && ctx.Err() == nil && (s != nil || first):
			r.log.WarnContext(ctx, "the replica does not answer: queries read the writer", "error", err)
			if r.current.Store(nil); s != nil {
				s.end()
			}
		}
	}
	if db != nil {
		_ = db.Close()
	}
}

// check returns an error if queries can't read db.
func check(ctx context.Context, db *sqlx.DB) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	_, err := queryreader.New(db).Versions(ctx, []es.AggregateID{{}})
	return err
}

type bypassKey struct{}

// Around notes for each request whether it reads the writer.
func (r *Replica) Around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		next.ServeHTTP(w, request.WithContext(context.WithValue(request.Context(), bypassKey{}, new(atomic.Bool))))
	})
}

// session returns the session that ctx's request reads in; nil: it reads the writer, as what is no request does.
func (r *Replica) session(ctx context.Context) *session {
	if bypass, is := ctx.Value(bypassKey{}).(*atomic.Bool); !is || bypass.Load() {
		return nil
	}
	s := r.current.Load()
	if s == nil {
		r.leave(ctx, "unavailable")
	}
	return s
}

// leave has ctx's request read the writer from now on.
func (r *Replica) leave(ctx context.Context, reason string) {
	if bypass, is := ctx.Value(bypassKey{}).(*atomic.Bool); is && bypass.CompareAndSwap(false, true) {
		r.left.WithLabelValues(reason).Inc()
	}
}

// Read runs a reading on the replica, or on the writer: again, if it fails before all rows are read. It also reads the
// writer if the replica lacks the row that a page begins after; the client may have it from the writer. Whether the
// replica answers, only Run decides: the reading itself may be what fails.
func (r *Replica) Read(ctx context.Context, read queryreader.Reading) error {
	if s := r.session(ctx); s != nil {
		within, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		defer context.AfterFunc(s.ctx, cancel)()
		err := read(within, s.db)
		if err == nil || ctx.Err() != nil {
			return err
		}
		switch {
		case errors.Is(err, sql.ErrNoRows):
			r.leave(ctx, "behind")
		case within.Err() != nil && s.ctx.Err() == nil:
			r.leave(ctx, "slow")
		default:
			r.leave(ctx, "unavailable")
		}
	}
	return read(ctx, r.writer)
}

// versions reads versions in the replica alone: those of the writer may be newer than the rows that are read next.
func (r *Replica) versions(ctx context.Context, keys []es.AggregateID) (map[es.AggregateID]uint64, error) {
	s := r.current.Load()
	if s == nil {
		return nil, es.ErrUnavailable
	}
	return queryreader.New(s.db).Versions(ctx, keys)
}

// await waits on the replica, for a share of ctx's time, and then on the writer.
func (r *Replica) await(ctx context.Context, share int, wait func(context.Context, *projection.Watcher) error) error {
	if s := r.session(ctx); s != nil {
		waiting, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.ctx, cancel)()
		if deadline, limited := ctx.Deadline(); limited && share > 1 {
			defer time.AfterFunc(time.Until(deadline)/time.Duration(share), cancel).Stop()
		}
		if err := wait(waiting, r.own); err == nil || ctx.Err() != nil {
			return err
		}
		reason := "behind"
		if s.ctx.Err() != nil || waiting.Err() == nil { // or a look at the versions has failed
			reason = "unavailable"
		}
		r.leave(ctx, reason)
	}
	return wait(ctx, r.others)
}

// Await implements [query.Watcher].
func (r *Replica) Await(ctx context.Context, least map[es.AggregateID]uint64) error {
	return r.await(ctx, waitShare, func(ctx context.Context, in *projection.Watcher) error { return in.Await(ctx, least) })
}

// AwaitChange implements [query.Watcher]. A replica without a change is not behind, so the writer is not asked.
func (r *Replica) AwaitChange(ctx context.Context, key es.AggregateID, after uint64) error {
	return r.await(ctx, 1, func(ctx context.Context, in *projection.Watcher) error { return in.AwaitChange(ctx, key, after) })
}

// Waiting returns how many callers wait now.
func (r *Replica) Waiting() int { return r.own.Waiting() + r.others.Waiting() }

// Report returns the report of the database that queries read, and how far it is behind by its stored progress.
func (r *Replica) Report(of func(context.Context, *sqlx.DB, *httpserver.Health)) func(context.Context, *httpserver.Health) {
	return func(ctx context.Context, health *httpserver.Health) {
		s := r.current.Load()
		if s == nil || check(ctx, s.db) != nil {
			health.Warn("the replica (READ_DATABASE_URL) does not answer: queries read DATABASE_URL")
			of(ctx, r.writer, health)
			return
		}
		of(ctx, s.db, health)
		seen, err := rowstore.ReadReport(ctx, s.db, chatrows.Projection)
		latest, writerErr := rowstore.ReadReport(ctx, r.writer, chatrows.Projection)
		if err == nil && writerErr == nil {
			health.Set("replica_behind_seconds", max(0, latest.At.Sub(seen.At).Seconds()))
		}
	}
}
