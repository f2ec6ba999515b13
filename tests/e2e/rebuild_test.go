package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
)

// The read model is rebuilt beside the live one, under load, by a program that is killed repeatedly. Clients that
// write, query and subscribe must not notice it.
func TestAnOperatorRebuildsTheReadModelUnderLoad(t *testing.T) {
	eachOwnSystem(t, func(t *testing.T, s *system) {
		ada, rows := s.person("acme"), sqlSpoiler{variable(s.store, "DATABASE_URL")}
		var threads []string
		for i := range 3 {
			thread := ada.command(t, "/threads/create", fields{"name": fmt.Sprint("tea ", i)}).text("thread_id")
			for j := range 100 {
				ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": fmt.Sprint("cup ", j)})
			}
			threads = append(threads, thread)
		}
		s.operate(t, allIsWell, "rows", "verify")
		rows.run(t, "UPDATE messages SET text = 'spoilt' WHERE thread_id = ? AND seq_nr = 3", threads[0])
		load := ada.begin(t, threads)
		kills := s.rebuildKilled(t)
		load.stop(t)
		if kills < 2 {
			t.Errorf("killed %d times only", kills)
		}
		s.operate(t, allIsWell, "rows", "verify")
		s.operate(t, 1, "rows", "rebuild", "--resume")
		s.operate(t, 1, "rows", "rebuild", "--cancel")
		s.operate(t, allIsWell, "rows", "rebuild", "--drop-old")
		s.operate(t, allIsWell, "rows", "rebuild")
		s.operate(t, allIsWell, "rows", "verify")
		if health := get(t, s.updaterURL+"/health/ready"); strings.Contains(health, "rebuild") {
			t.Errorf("health reports a finished rebuild: %s", health)
		}
	})
}

// rebuildKilled rebuilds the read model with a program that is killed, each time later, until it succeeds.
func (s *system) rebuildKilled(t *testing.T) (kills int) {
	t.Helper()
	for life := 20 * time.Millisecond; ; life += life/6 + 10*time.Millisecond {
		ctx, cancel := context.WithTimeout(t.Context(), life)
		output, err := s.operateUntil(ctx, "rows", "rebuild", "--resume")
		if strings.Contains(output, "no rebuild to go on with") {
			output, err = s.operateUntil(ctx, "rows", "rebuild")
		}
		killed := ctx.Err() != nil
		cancel()
		switch {
		case err == nil:
			return kills
		case killed:
			kills++
		case strings.Contains(output, "another rebuild"): // the server has not noticed the last death
		default:
			t.Fatalf("after %d kills: %v\n%s", kills, err, output)
		}
	}
}

// operateUntil runs threadctl until ctx ends, which kills it.
func (s *system) operateUntil(ctx context.Context, args ...string) (output string, err error) {
	command := exec.CommandContext(ctx, filepath.Join(binaries, "threadctl"), args...)
	command.Env = s.store
	text, err := command.CombinedOutput()
	return string(text), err
}

const pace = 5 * time.Millisecond // of a client

// traffic is three clients: one writes, one queries, one subscribes.
type traffic struct {
	end     context.CancelFunc
	ended   sync.WaitGroup
	queries atomic.Int64
	told    atomic.Int64 // the last version from the subscription
	written atomic.Int64 // the version of the first thread
}

func (p person) begin(t *testing.T, threads []string) *traffic {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	l := &traffic{end: end}
	latest := make([]atomic.Pointer[string], len(threads))
	l.ended.Go(func() {
		for i := 0; es.Wait(ctx, pace) == nil; i++ {
			at := i % len(threads)
			done, err := p.try(context.WithoutCancel(ctx), "/threads/post_message", fields{"thread_id": threads[at], "text": fmt.Sprint("more ", i)}, nil)
			if err != nil || done.status != http.StatusOK {
				t.Errorf("a command: %d %s, %v", done.status, done.raw, err)
				return
			}
			token := token(done)
			latest[at].Store(&token)
			if at == 0 {
				l.written.Store(int64(done.version()))
			}
		}
	})
	l.ended.Go(func() {
		for i := 0; es.Wait(ctx, pace) == nil; i++ {
			at := i % len(threads)
			token := latest[at].Load()
			if token == nil {
				continue
			}
			var data struct{ GetThread struct{ Version int } }
			failed, err := p.query(context.WithoutCancel(ctx), &data, "query($thread: ID!, $viewer: ID!) { getThread(threadId: $thread, userAccountId: $viewer) { version } }",
				fields{"thread": threads[at], "viewer": p.id}, *token)
			if err != nil || len(failed) > 0 || data.GetThread.Version < 100 {
				t.Errorf("a query: %+v, %+v, %v", data, failed, err)
				return
			}
			l.queries.Add(1)
		}
	})
	l.ended.Go(func() {
		if err := p.subscribe(ctx, threads[0], "{ version }", func(now threadData) { l.told.Store(int64(now.Version)) }); err != nil && ctx.Err() == nil {
			t.Errorf("a subscription: %v", err)
		}
	})
	testenv.Eventually(t, 30*time.Second, l.goesOn(0))
	return l
}

// goesOn returns nil once there were more queries than behind, and the subscription has the latest version or nearly
// so.
func (l *traffic) goesOn(behind int64) func() error {
	return func() error {
		if l.queries.Load() < behind+10 || l.told.Load() == 0 || l.told.Load() < l.written.Load()-20 {
			return fmt.Errorf("%d queries, written %d, told %d", l.queries.Load(), l.written.Load(), l.told.Load())
		}
		return nil
	}
}

func (l *traffic) stop(t *testing.T) {
	t.Helper()
	testenv.Eventually(t, 30*time.Second, l.goesOn(l.queries.Load()))
	l.end()
	l.ended.Wait()
}

// Rows of another program version must be reported and rebuilt.
func TestRowsOfAnotherVersion(t *testing.T) {
	startsPrograms(t)
	for name, byHand := range map[string]bool{"by hand": true, "by itself": false} {
		t.Run(name, func(t *testing.T) {
			var s *system
			if byHand {
				s = threePrograms(t, oneMySQL(t))
			} else {
				s = oneProcess(t)
			}
			ada, rows := s.person("acme"), sqlSpoiler{variable(s.store, "DATABASE_URL")}
			thread := ada.command(t, "/threads/create", fields{"name": "tea"})
			ada.view(t, thread.text("thread_id"), token(thread))
			rows.run(t, "UPDATE threads SET name = 'as it was made before' WHERE id = ?", thread.text("thread_id"))
			rows.run(t, "UPDATE row_sets SET handlers = REPLACE(handlers, 'thread=', 'thread=9') WHERE projection = 'read-model'")
			if byHand {
				testenv.Eventually(t, 30*time.Second, func() error {
					if health := get(t, s.updaterURL+"/health/ready"); !strings.Contains(health, "the rows of thread were made by another version") {
						return errors.New("health does not report it: " + health)
					}
					return s.metric(t, "projection_rows_outdated", "1")
				})
				s.operate(t, allIsWell, "rows", "rebuild")
			}
			testenv.Eventually(t, 30*time.Second, func() error {
				if view := ada.view(t, thread.text("thread_id")); view.Name != "tea" {
					return fmt.Errorf("the thread is %+v", view)
				}
				if health := get(t, s.updaterURL+"/health/ready"); !strings.Contains(health, `"ready"`) || strings.Contains(health, "another version") {
					return errors.New("health still reports it: " + health)
				}
				return nil
			})
		})
	}
}

// An event store that was restored to an earlier time must be detected while the programs run, and the rows must be
// rebuilt.
func TestTimeThatGoesBack(t *testing.T) {
	startsPrograms(t)
	s := threePrograms(t, oneMySQL(t))
	ada := s.person("acme")
	thread := ada.command(t, "/threads/create", fields{"name": "tea"}).text("thread_id")
	lost := ada.command(t, "/threads/create", fields{"name": "that is forgotten"}).text("thread_id")
	last := answer{}
	for i := range 9 {
		last = ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": fmt.Sprint(i)})
	}
	ada.view(t, thread, token(last))
	s.writer.Kill(t)
	events := sqlSpoiler{variable(s.store, "EVENT_STORE_URL")}
	events.run(t, "DELETE FROM snapshots WHERE aggregate_id <> ''")
	events.run(t, "DELETE FROM events WHERE aggregate_id = ?", "thread-"+lost)
	events.run(t, "DELETE FROM aggregates WHERE aggregate_id = ?", "thread-"+lost)
	events.run(t, "DELETE FROM events WHERE version > 4 AND aggregate_id = ?", "thread-"+thread)
	events.run(t, "UPDATE aggregates SET version = 4, snapshot_version = 0 WHERE aggregate_id = ?", "thread-"+thread)
	testenv.Eventually(t, 30*time.Second, func() error {
		if health := get(t, s.updaterURL+"/health/ready"); !strings.Contains(health, "ahead of the journal") || !strings.Contains(health, "rows rebuild") {
			return fmt.Errorf("health does not report it: %s", health)
		}
		return nil
	})
	s.operate(t, allIsWell, "rows", "rebuild")
	s.operate(t, allIsWell, "rows", "verify")
	testenv.Eventually(t, 30*time.Second, func() error {
		if health := get(t, s.updaterURL+"/health/ready"); strings.Contains(health, "ahead of the journal") {
			return fmt.Errorf("health still reports it: %s", health)
		}
		return nil
	})
	s.writer.Start(t)
	last = ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": "after all"})
	if view := ada.view(t, thread, token(last)); view.Version != 5 || len(view.Messages) != 4 {
		t.Errorf("the thread is %+v", view)
	}
}

// The standalone program must rebuild automatically.
func TestTimeThatGoesBackInOneProcess(t *testing.T) {
	startsPrograms(t)
	s := oneProcess(t)
	ada := s.person("acme")
	thread := ada.command(t, "/threads/create", fields{"name": "tea"}).text("thread_id")
	last := ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": "kept"})
	before := ada.view(t, thread, token(last))
	file := filepath.Join(s.folder, "events.db")
	s.writer.Stop(t)
	backup, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s.writer.Start(t)
	for i := range 5 {
		last = ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": fmt.Sprint("lost ", i)})
	}
	ada.view(t, thread, token(last))
	s.writer.Stop(t)
	if err := os.WriteFile(file, backup, 0o600); err != nil {
		t.Fatal(err)
	}
	s.writer.Start(t)
	testenv.Eventually(t, 30*time.Second, func() error {
		if diff := cmp.Diff(before, ada.view(t, thread)); diff != "" {
			return errors.New("the thread before and after (-before +after):\n" + diff)
		}
		return nil
	})
	s.operate(t, allIsWell, "rows", "verify")
}
