package replica_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/prometheus/client_golang/prometheus"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
	"example.com/threads/extras/replica"
	"example.com/threads/interfaceadaptor/readmodel/queryreader"
	"example.com/threads/tests/readmodeltest"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// Who waits for a change and sees none goes on with the replica, however long the wait was.
func TestAWaitForAChangeStaysOnTheReplica(t *testing.T) {
	db := readmodeltest.SQLite(t)
	chat := db.World(t, "").Thread("quiet", readmodeltest.NewUser())
	key := es.AggregateID{Type: "thread", ID: chat.String()}
	copied := "sqlite:" + filepath.Join(t.TempDir(), "copy.db")
	if _, err := db.DB.ExecContext(t.Context(), "VACUUM INTO ?", strings.TrimPrefix(copied, "sqlite:")); err != nil {
		t.Fatal(err)
	}
	quiet, registry := slog.New(slog.DiscardHandler), prometheus.NewRegistry()
	writer := projection.NewWatcher(queryreader.New(db.DB).Versions, quiet)
	r := replica.Settings{URL: copied}.Of(db.DB, writer, quiet, nil, registry)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { writer.Run(ctx) })
	running.Go(func() { r.Run(ctx) })
	reads := func(do func(context.Context)) {
		r.Around(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) { do(request.Context()) })).
			ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	}
	bypassed := func() (requests float64) {
		t.Helper()
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families { // there is one
			for _, metric := range family.GetMetric() {
				requests += metric.GetCounter().GetValue()
			}
		}
		return requests
	}
	testenv.Eventually(t, 20*time.Second, func() error {
		before := bypassed()
		reads(func(ctx context.Context) {
			if err := r.Await(ctx, map[es.AggregateID]uint64{key: 1}); err != nil {
				t.Fatal(err)
			}
		})
		if bypassed() > before {
			return errors.New("the replica does not answer")
		}
		return nil
	})
	before := bypassed()
	reads(func(ctx context.Context) {
		for range 3 {
			waiting, stop := context.WithTimeout(ctx, 400*time.Millisecond)
			if err := r.AwaitChange(waiting, key, 1); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("nothing has changed: %v", err)
			}
			stop()
		}
	})
	if n := bypassed(); n != before {
		t.Errorf("%v requests have read the writer, before %v", n, before)
	}

	// A reading that takes too long is made on the writer. The others stay on the replica.
	var slow []*sqlx.DB
	reads(func(ctx context.Context) {
		err := r.Read(ctx, func(ctx context.Context, from *sqlx.DB) error {
			if slow = append(slow, from); from != db.DB {
				<-ctx.Done()
			}
			return ctx.Err()
		})
		if err != nil || len(slow) != 2 || slow[1] != db.DB {
			t.Errorf("%v, read %d times", err, len(slow))
		}
	})
	// So is one that fails for a reason of its own.
	var failed []*sqlx.DB
	reads(func(ctx context.Context) {
		err := r.Read(ctx, func(_ context.Context, from *sqlx.DB) error {
			if failed = append(failed, from); from != db.DB {
				return errors.New("a row that can't be read")
			}
			return nil
		})
		if err != nil || len(failed) != 2 || failed[1] != db.DB {
			t.Errorf("%v, read %d times", err, len(failed))
		}
	})
	reads(func(ctx context.Context) {
		err := r.Read(ctx, func(_ context.Context, from *sqlx.DB) error {
			if from == db.DB {
				t.Error("another's reading has ended the session")
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
