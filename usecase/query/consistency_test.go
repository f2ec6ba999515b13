package query_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase/query"
)

type versionsOf = func(context.Context, []es.AggregateID) (map[es.AggregateID]uint64, error)

// watching returns a running watcher, which ends with the test, and queries that use it.
func watching(t *testing.T, db *readmodeltest.Database, versions versionsOf, wait time.Duration) (*query.Queries, *projection.Watcher) {
	t.Helper()
	reader := readmodeltest.NewReader(t, db.DB)
	watcher := projection.NewWatcher(versions, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { watcher.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	return query.New(reader, watcher, query.Settings{WaitTimeout: wait}), watcher
}

func token(id thread.ID, version uint64) query.Token {
	return query.Token{Type: "thread", ID: id.String(), Version: version}
}

func TestTokens(t *testing.T) {
	queries := query.New(nil, nil, query.Settings{})
	queries.Add(query.Awaitable{Type: "gadget"}) // extra:tasks|tenants
	id := kit.NewID[thread.Thread]()
	one := id.String() + ":7"
	for header, want := range map[string]int{
		one:                                   1,
		"thread-" + one:                       1,
		"thread-" + one + "," + one:           2,
		"account-" + one:                      1,
		"gadget-" + one:                       1, // extra:tasks|tenants
		"gizmo-" + one:                        0,
		"thread-:7":                           0,
		" " + one + " , " + one + " ":         2,
		strings.Repeat(one+",", 19) + one:     20,
		strings.Repeat(one+",", 20) + one:     0,
		"":                                    0,
		",":                                   0,
		one + ",":                             0,
		id.String():                           0,
		id.String() + ":":                     0,
		id.String() + ":0":                    0,
		id.String() + ":-1":                   0,
		id.String() + ":1:2":                  0,
		"x:1":                                 0,
		id.String() + ":99999999999999999999": 0,
	} {
		tokens, err := queries.ParseTokens(header)
		if len(tokens) != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v", header, tokens, err)
		}
		if err != nil && es.KindOf(err) != es.Invalid {
			t.Errorf("%q: %v does not tell the caller what to correct", header, err)
		}
		for _, token := range tokens {
			named := "thread"
			if strings.HasPrefix(header, "account-") {
				named = "account"
			}
			if strings.HasPrefix(header, "gadget-") {
				named = "gadget"
			}
			if token != (query.Token{Type: named, ID: id.String(), Version: 7}) {
				t.Errorf("%q: %v", header, token)
			}
		}
	}
}

func TestAwait(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		queries, _ := watching(t, db, readmodeltest.NewReader(t, db.Counted).Versions, 5*time.Second)
		impatient, _ := watching(t, db, readmodeltest.NewReader(t, db.DB).Versions, 50*time.Millisecond)
		w := db.World(t, "acme")
		alice := readmodeltest.NewUser()
		id, other := w.Thread("chat", alice), w.Thread("other", alice)

		tokens := func(version uint64) []query.Token {
			return []query.Token{token(id, version), token(other, 1), token(id, 1)}
		}
		if err := queries.Await(t.Context(), query.Viewer{Tenant: w.Tenant}, tokens(1)); err != nil {
			t.Errorf("a version that is there: %v", err)
		}
		if err := impatient.Await(t.Context(), query.Viewer{Tenant: w.Tenant}, tokens(2)); !errors.Is(err, es.ErrBehind) {
			t.Errorf("a version that is not reached: %v", err)
		}
		for _, code := range []string{"", "globex"} {
			if err := impatient.Await(t.Context(), query.Viewer{Tenant: db.World(t, code).Tenant}, tokens(1)); !errors.Is(err, es.ErrBehind) {
				t.Errorf("tenant %q waits for another's thread: %v", code, err)
			}
		}

		before := db.Statements()
		arrived := make(chan error, 1)
		go func() { arrived <- queries.Await(t.Context(), query.Viewer{Tenant: w.Tenant}, tokens(2)) }()
		testenv.Eventually(t, 5*time.Second, func() error {
			if db.Statements() < before+3 {
				return errors.New("nobody looks")
			}
			return nil
		})
		select {
		case err := <-arrived:
			t.Fatalf("returned before the version was there: %v", err)
		default:
		}
		w.Delete(id) // a deleted thread has a version, too
		if err := <-arrived; err != nil {
			t.Errorf("a version that came later: %v", err)
		}

		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := queries.Await(gone, query.Viewer{Tenant: w.Tenant}, tokens(9)); !errors.Is(err, context.Canceled) {
			t.Errorf("the caller has disconnected: %v", err)
		}
	})
}

func TestAStrangerDoesNotLearnVersionsByTokens(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		const wait = 200 * time.Millisecond
		queries, _ := watching(t, db, readmodeltest.NewReader(t, db.DB).Versions, wait)
		w := db.World(t, "acme")
		alice, bob, stranger := readmodeltest.NewUser(), readmodeltest.NewUser(), readmodeltest.NewUser()
		id, deleted := w.Thread("chat", alice), w.Thread("deleted", alice)
		w.Add(id, bob)
		w.Remove(id, bob)
		w.Delete(deleted)
		await := func(user thread.UserID, id thread.ID, version uint64) (err error, late bool) {
			begun := time.Now()
			err = queries.Await(t.Context(), query.Viewer{Tenant: w.Tenant, User: user}, []query.Token{token(id, version)})
			return err, time.Since(begun) >= wait
		}
		for _, of := range []thread.ID{id, deleted, kit.NewID[thread.Thread]()} {
			for _, version := range []uint64{1, 2, 9} {
				if err, late := await(stranger, of, version); !errors.Is(err, es.ErrBehind) || !late {
					t.Errorf("version %d of %s: %v, late: %t", version, of, err, late)
				}
			}
		}
		queries, _ = watching(t, db, readmodeltest.NewReader(t, db.DB).Versions, 10*time.Second)
		for who, of := range map[thread.UserID]thread.ID{alice: id, bob: id} {
			if err, _ := await(who, of, 2); err != nil {
				t.Errorf("a member, or one who has left: %v", err)
			}
		}
		if err, _ := await(alice, deleted, 2); err != nil {
			t.Errorf("a member of a deleted thread: %v", err)
		}
	})
}

func TestAllWhoWaitShareTheStatements(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		queries, watcher := watching(t, db, readmodeltest.NewReader(t, db.Counted).Versions, time.Minute)
		w := db.World(t, "acme")
		const waits = 200
		chats := make([]thread.ID, waits)
		for i := range chats {
			chats[i] = w.Thread("chat", readmodeltest.NewUser())
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		started := time.Now()
		before := db.Statements()
		var waiting sync.WaitGroup
		for _, id := range chats {
			waiting.Go(func() {
				if err := queries.Await(ctx, query.Viewer{Tenant: w.Tenant}, []query.Token{token(id, 2)}); err != nil {
					t.Error(err)
				}
			})
			waiting.Go(func() {
				if err := watcher.AwaitChange(ctx, w.Key(id), 1); err != nil {
					t.Error(err)
				}
			})
		}
		for _, id := range chats {
			w.Rename(id, "renamed")
		}
		waiting.Wait()
		// At most one poll when each wait starts, and one every 5 ms: waits must share polls.
		spent, most := db.Statements()-before, waits+int64(time.Since(started)/(5*time.Millisecond))+1
		if spent > most {
			t.Errorf("%d statements for %d waits, more than %d", spent, 2*waits, most)
		}

		// Without waits, polls in progress end and no others follow.
		var last int64
		testenv.Eventually(t, 5*time.Second, func() error {
			if now := db.Statements(); now != last {
				last = now
				return errors.New("still looking")
			}
			return nil
		})
		quiet := time.NewTimer(100 * time.Millisecond)
		<-quiet.C
		if now := db.Statements(); now != last {
			t.Errorf("%d statements while nobody waited", now-last)
		}
	})
}

// broken is a version reader that fails until it is repaired.
type broken struct {
	versions versionsOf
	mu       sync.Mutex
	err      error
}

func (b *broken) set(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

func (b *broken) Versions(ctx context.Context, keys []es.AggregateID) (map[es.AggregateID]uint64, error) {
	b.mu.Lock()
	err := b.err
	b.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return b.versions(ctx, keys)
}

func TestAReadModelThatCanNotBeRead(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		faulty := &broken{versions: readmodeltest.NewReader(t, db.DB).Versions}
		queries, watcher := watching(t, db, faulty.Versions, 5*time.Second)
		w := db.World(t, "acme")
		id := w.Thread("chat", readmodeltest.NewUser())
		changed := make(chan error, 1)
		faulty.set(es.ErrUnavailable)
		go func() { changed <- watcher.AwaitChange(t.Context(), w.Key(id), 1) }()

		err := queries.Await(t.Context(), query.Viewer{Tenant: w.Tenant}, []query.Token{token(id, 1)})
		if !errors.Is(err, es.ErrUnavailable) {
			t.Errorf("a query is told %v", err)
		}
		w.Rename(id, "renamed")
		faulty.set(nil)
		if err := <-changed; err != nil {
			t.Errorf("a subscription is told %v, and could have waited", err)
		}
	})
}

// behind is a watcher of an aggregate whose position is at a version that its row does not reach: an operator has
// skipped the last event.
type behind struct {
	query.Watcher
	at    uint64
	waits int
}

func (b *behind) AwaitChange(ctx context.Context, _ es.AggregateID, after uint64) error {
	if b.waits++; after < b.at {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func TestChangesOfARowThatStaysBehindItsPosition(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		watcher := &behind{at: 5}
		queries := query.New(nil, watcher, query.Settings{})
		var seen []uint64
		read := func(context.Context) (uint64, uint64, error) {
			if watcher.waits == 10 { // another replica, which was behind, has caught up
				return 5, 5, nil
			}
			return 3, 3, nil
		}
		for row, err := range query.Changes(ctx, queries, es.AggregateID{}, read) {
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, row)
		}
		if !slices.Equal(seen, []uint64{3, 5}) || watcher.waits > 20 {
			t.Errorf("%v after %d waits", seen, watcher.waits)
		}
	})
}
