package process_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/migration"
	"example.com/threads/es/process"
	"example.com/threads/es/projection"
	"example.com/threads/es/rowstore"
)

// world is an outbox in a database, and what receives its commands.
type world struct {
	*process.Outbox
	db    *sqlx.DB
	store *rowstore.Store

	mu      sync.Mutex
	got     map[string]int // by key
	callers map[string]es.Caller
	failing map[string]bool // by aggregate

	unlimited int // commands that could hold up others for longer than ten seconds
}

func onEach(t *testing.T, test func(*testing.T, *world)) {
	t.Run("mysql", func(t *testing.T) { test(t, newWorld(t, testenv.MySQL(t))) })
	t.Run("sqlite", func(t *testing.T) { test(t, newWorld(t, "sqlite:"+filepath.Join(t.TempDir(), "rows.db"))) })
}

func newWorld(t *testing.T, url string) *world {
	t.Helper()
	db, err := database.Open(t.Context(), url, database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migration.Up(t.Context(), db, rowstore.Schema()); err != nil {
		t.Fatal(err)
	}
	return worldIn(t, db)
}

func worldIn(t *testing.T, db *sqlx.DB) *world {
	t.Helper()
	store, err := rowstore.New(db, "cancel-all")
	if err != nil {
		t.Fatal(err)
	}
	return &world{
		Outbox: process.New(db, store, "cancel-all", slog.New(slog.DiscardHandler)), db: db, store: store,
		got: map[string]int{}, callers: map[string]es.Caller{}, failing: map[string]bool{},
	}
}

// send decides commands: it records each one and fails for the aggregates in failing.
func (w *world) send(ctx context.Context, caller es.Caller, key string, command process.Command) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if until, limited := ctx.Deadline(); !limited || time.Until(until) > 10*time.Second {
		w.unlimited++
	}
	w.got[key]++
	w.callers[key] = caller
	if w.failing[command.Target.ID] {
		return es.ErrConcurrentUpdate
	}
	return nil
}

// cause adds commands for aggregates, as a projection does.
func (w *world) cause(t *testing.T, ids ...string) (commands []process.Command) {
	t.Helper()
	tenant, err := es.ParseTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		commands = append(commands, process.Command{
			Target: es.AggregateID{Tenant: tenant, Type: "order", ID: id}, Name: "order.Cancel", EventID: "EVENT", Executor: "SOMEBODY",
			CausationID: "CAUSE", CorrelationID: "conversation",
		})
	}
	err = w.store.Change(t.Context(), func(ctx context.Context, tx projection.Tx) error { return w.Add(ctx, tx, commands) })
	if err != nil {
		t.Fatal(err)
	}
	return commands
}

func (w *world) wantLeft(t *testing.T, want int) {
	t.Helper()
	if waiting, _, err := w.Count(t.Context()); waiting != want || err != nil {
		t.Errorf("%d commands are left, not %d: %v", waiting, want, err)
	}
}

func TestWhatACommandCarries(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		first := w.cause(t, "A", "B")[0]
		if sent, err := w.SendDue(t.Context(), w.send); sent != 2 || err != nil || w.Sent.Load() != 2 {
			t.Fatalf("sent %d, %v", sent, err)
		}
		w.wantLeft(t, 0)
		if w.unlimited != 0 {
			t.Errorf("%d commands are not given up in time", w.unlimited)
		}
		want := es.Caller{
			Tenant: first.Target.Tenant, Executor: "SOMEBODY", CorrelationID: "conversation", CausationID: "CAUSE", Source: "process/cancel-all",
		}
		if got := w.callers["process/cancel-all/EVENT/order-A"]; got != want || w.got["process/cancel-all/EVENT/order-B"] != 1 {
			t.Errorf("%+v, want %+v, of %v", got, want, w.got)
		}
	})
}

// Killed after sending: the command is sent again with the same key, by which the receiver recognizes it.
func TestAKilledProgramSendsAgainWithTheSameKey(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		w.cause(t, "A")
		for range 3 {
			ctx, kill := context.WithCancel(t.Context())
			_, err := w.SendDue(ctx, func(ctx context.Context, caller es.Caller, key string, command process.Command) error {
				err := w.send(ctx, caller, key, command)
				kill()
				return errors.Join(err, ctx.Err())
			})
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			w.wantLeft(t, 1)
		}
		if _, err := w.SendDue(t.Context(), w.send); err != nil {
			t.Fatal(err)
		}
		if len(w.got) != 1 || w.got["process/cancel-all/EVENT/order-A"] != 4 {
			t.Errorf("got %v", w.got)
		}
		w.wantLeft(t, 0)
	})
}

func TestACommandThatFailsHoldsUpNothing(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		w.failing["A"] = true
		target := w.cause(t, "A", "B")[0].Target
		began := time.Now().Truncate(time.Microsecond)
		for attempt := range 12 {
			before := time.Now()
			if sent, err := w.SendDue(t.Context(), w.send); err != nil || sent == 0 {
				t.Fatalf("attempt %d: sent %d, %v", attempt, sent, err)
			}
			now := time.Now()
			if attempt >= 3 { // it waits for four seconds or more
				if sent, err := w.SendDue(t.Context(), w.send); err != nil || sent != 0 {
					t.Fatalf("attempt %d: sent %d at once again, %v", attempt, sent, err)
				}
			}
			waiting, failing, err := w.Count(t.Context())
			if waiting != 1 || failing != 1 || err != nil {
				t.Fatalf("attempt %d: %d wait, %d in vain, %v", attempt, waiting, failing, err)
			}
			all, err := process.AllFailing(t.Context(), w.db, 2)
			if err != nil || len(all) != 1 {
				t.Fatalf("attempt %d: %+v fail, %v", attempt, all, err)
			}
			left := all[0]
			since, most := left.FailingSince, min(time.Second<<attempt, 5*time.Minute)
			if left.Attempts != attempt+1 || left.Reason == "" || since.Before(began) || since.After(now) ||
				left.DueAt.Before(before.Add(most/2).Truncate(time.Microsecond)) || left.DueAt.After(now.Add(most)) {
				t.Fatalf("attempt %d: %+v after %s", attempt, left, left.DueAt.Sub(now))
			}
			if err := w.Retry(t.Context(), target, "EVENT", time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		w.failing["A"] = false
		if _, err := w.SendDue(t.Context(), w.send); err != nil {
			t.Error(err)
		}
		w.wantLeft(t, 0)
		if w.Failures.Load() != 12 || w.Sent.Load() != 2 {
			t.Errorf("%d failures, %d sent", w.Failures.Load(), w.Sent.Load())
		}
	})
}

// What a clock that was ahead has stored must not wait until that time.
func TestACommandFromAClockThatWasAheadIsSent(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		w.cause(t, "A", "B")
		for id, ahead := range map[string]time.Duration{"A": 30 * 24 * time.Hour, "B": 5 * time.Minute} { // B waits
			if _, err := w.db.Exec("UPDATE process_commands SET due_at = ? WHERE aggregate_id = ?", time.Now().Add(ahead).UnixMicro(), id); err != nil {
				t.Fatal(err)
			}
		}
		if sent, err := w.SendDue(t.Context(), w.send); sent != 1 || err != nil || w.got["process/cancel-all/EVENT/order-A"] != 1 {
			t.Errorf("sent %d: %v, %v", sent, w.got, err)
		}
	})
}

// An operator may drop a command that fails, and no other. It is not sent again, and stays on record.
func TestSkip(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		w.failing["A"] = true
		command := w.cause(t, "A")[0]
		at := time.UnixMicro(1750000000000000).UTC()
		skip := func() error { return w.Skip(t.Context(), command.Target, "EVENT", "no use", "grace", at) }
		if err := skip(); !errors.Is(err, rowstore.ErrNotParked) {
			t.Errorf("a command that does not fail: %v", err)
		}
		if _, err := w.SendDue(t.Context(), w.send); err != nil {
			t.Fatal(err)
		}
		if err := skip(); err != nil {
			t.Fatal(err)
		}
		if err := skip(); !errors.Is(err, rowstore.ErrNotParked) {
			t.Errorf("twice: %v", err)
		}
		w.wantLeft(t, 0)
		want := rowstore.Skip{
			Projection: "cancel-all", Key: command.Target, EventID: "EVENT", Cause: es.ErrConcurrentUpdate.Error(), Reason: "no use", By: "grace",
			At: at, Command: command.Name,
		}
		if skips, err := rowstore.Skips(t.Context(), w.db, 10); err != nil || len(skips) != 1 || skips[0] != want {
			t.Errorf("%+v, want %+v, %v", skips, want, err)
		}
	})
}

// A running outbox sends everything page by page, with and without Wake, and stops with its context.
func TestRun(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { w.Run(ctx, w.send) })
		for round, wake := range []bool{true, false} {
			var ids []string
			for i := range 350 {
				ids = append(ids, fmt.Sprint(round, "-", i))
			}
			w.cause(t, ids...)
			if wake {
				w.Wake()
			}
			testenv.Eventually(t, time.Minute, func() error {
				if waiting, _, err := w.Count(t.Context()); err != nil || waiting > 0 {
					return fmt.Errorf("%d commands wait: %w", waiting, err)
				}
				return nil
			})
		}
		stop()
		running.Wait()
		if len(w.got) != 700 {
			t.Errorf("%d commands were sent", len(w.got))
		}
	})
}

// One of two commands would not be sent, or all events of an aggregate would share one.
func TestCommandsThatAreNotKept(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		target := es.AggregateID{Type: "order", ID: "A"}
		for about, commands := range map[string][]process.Command{
			"two names":        {{Target: target, EventID: "E", Name: "Cancel"}, {Target: target, EventID: "E", Name: "Pay"}},
			"without an event": {{Target: target, Name: "Cancel"}},
		} {
			err := w.store.Change(t.Context(), func(ctx context.Context, tx projection.Tx) error { return w.Add(ctx, tx, commands) })
			if !errors.Is(err, projection.ErrRefused) {
				t.Errorf("%s: %v", about, err)
			}
		}
		w.wantLeft(t, 0)
	})
}

func TestAPanicHoldsUpNothing(t *testing.T) {
	onEach(t, func(t *testing.T, w *world) {
		w.cause(t, "A", "B")
		_, err := w.SendDue(t.Context(), func(ctx context.Context, caller es.Caller, key string, command process.Command) error {
			if command.Target.ID == "A" {
				panic("on purpose")
			}
			return w.send(ctx, caller, key, command)
		})
		if err != nil || w.Sent.Load() != 1 || w.Failures.Load() != 1 {
			t.Errorf("%d sent, %d failed: %v", w.Sent.Load(), w.Failures.Load(), err)
		}
		w.wantLeft(t, 1)
	})
}
