package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
)

// Queries read a replica that lags, stands still, is cut off, hangs and dies. Who has a token must never see older
// rows, and no query may fail.
func TestReadsFromAReplica(t *testing.T) {
	startsPrograms(t)
	writer, replica := mariaDBs(t)
	s := threePrograms(t, append(oneMySQL(t), "DATABASE_URL="+urlAt(writer.at()), "READ_DATABASE_URL="+urlAt(replica.at())))
	ada := s.person("acme")
	created := ada.command(t, "/threads/create", fields{"name": "tea"})
	thread := created.text("thread_id")
	ada.view(t, thread, token(created))
	post := func() answer {
		t.Helper()
		return ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": "hello"})
	}
	version := func(tokens ...string) int { t.Helper(); return ada.view(t, thread, tokens...).Version }
	health := func() string { return get(t, s.readURL+"/health/ready") }
	readsReplica := func() {
		t.Helper()
		testenv.Eventually(t, 20*time.Second, func() error {
			before, posted := s.bypassed(t), post()
			if got := version(token(posted)); got < posted.version() {
				t.Fatalf("version %d after the token of %d", got, posted.version())
			}
			if now := s.bypassed(t); !maps.Equal(now, before) || strings.Contains(health(), "READ_DATABASE_URL") {
				return fmt.Errorf("a query reads the writer: %v, %s", now, health())
			}
			return nil
		})
	}
	wantOld := func(than int) {
		t.Helper()
		without := s.bypassed(t)["unavailable"] // a replica that is silent for a second
		if got := version(); got >= than && s.bypassed(t)["unavailable"] == without {
			t.Errorf("version %d is not from the replica, which must be before %d", got, than)
		}
	}
	readsReplica()
	steady := ada.keepsReading(t, thread)

	replica.follow(t, writer, 5) // s behind
	sees := ada.follows(t, thread, token(post()))
	for began := time.Now(); time.Since(began) < 4*time.Second; {
		posted := post()
		wantOld(posted.version())
		if got := version(token(posted)); got < posted.version() {
			t.Fatalf("version %d after the token of %d", got, posted.version())
		}
		// A page after a row that the replica lacks.
		var page struct{ GetMessages []messageView }
		ada.ask(t, &page, `query($thread: ID!, $viewer: ID!, $after: String) { getMessages(threadId: $thread, userAccountId: $viewer, after: $after) { id } }`,
			fields{"thread": thread, "viewer": ada.id, "after": posted.text("message_id")})
	}
	if s.bypassed(t)["behind"] == 0 {
		t.Error("no query is counted that read the writer")
	}
	last := post()
	never := fmt.Sprintf("%s:%d", thread, last.version()+1)
	if code := ada.refused(t, "query($thread: ID!, $viewer: ID!) { getThread(threadId: $thread, userAccountId: $viewer) { version } }",
		fields{"thread": thread, "viewer": ada.id}, never); code != "READ_MODEL_BEHIND" {
		t.Errorf("a version that neither has: %s", code)
	}
	sees.reach(t, last.version())
	testenv.Eventually(t, 15*time.Second, func() error {
		post()
		lag := regexp.MustCompile(`"replica_behind_seconds":([0-9.]+)`).FindStringSubmatch(health())
		if lag == nil || lag[1] == "0" {
			return errors.New("health does not tell the lag: " + health())
		}
		return nil
	})

	replica.follow(t, writer, 0)
	replica.awaitLevel(t, writer)
	replica.run(t, "STOP SLAVE SQL_THREAD")
	for range 3 {
		posted := post()
		wantOld(posted.version())
		if got := version(token(posted)); got < posted.version() {
			t.Fatalf("version %d after the token of %d", got, posted.version())
		}
	}
	replica.run(t, "START SLAVE SQL_THREAD")
	readsReplica()

	// Another subscription, which begins on the replica and goes on at the writer.
	sees = ada.follows(t, thread, "")
	sees.reach(t, version())
	for range 20 {
		replica.cut(t, "TRUE")
		posted := post()
		if got := version(token(posted)); got < posted.version() {
			t.Fatalf("version %d after the token of %d", got, posted.version())
		}
	}
	readsReplica()
	replica.signal(t, syscall.SIGSTOP)
	for range 10 {
		posted := post()
		if got := version(token(posted)); got < posted.version() {
			t.Fatalf("version %d after the token of %d", got, posted.version())
		}
	}
	replica.signal(t, syscall.SIGCONT)
	readsReplica()

	replica.kill(t)
	posted := post()
	sees.reach(t, posted.version())
	testenv.Eventually(t, 10*time.Second, func() error {
		if told := health(); !strings.Contains(told, `"ready"`) || !strings.Contains(told, "READ_DATABASE_URL") {
			return errors.New("health does not tell that the replica is away: " + told)
		}
		return nil
	})
	if got := version(); got < posted.version() || s.bypassed(t)["unavailable"] == 0 {
		t.Errorf("version %d of %d without the replica; counted: %v", got, posted.version(), s.bypassed(t))
	}
	replica.start(t)
	readsReplica()
	steady.stop()
}

// bypassed returns how many requests have read the writer, by reason.
func (s *system) bypassed(t *testing.T) map[string]int {
	t.Helper()
	found := map[string]int{}
	for _, line := range regexp.MustCompile(`(?m)^replica_bypassed_total\{reason="(\w+)"\} (\d+)$`).FindAllStringSubmatch(get(t, s.readURL+"/metrics"), -1) {
		found[line[1]], _ = strconv.Atoi(line[2])
	}
	return found
}

// steadyReader queries all the time, without tokens.
type steadyReader struct{ stop func() }

// keepsReading fails the test if a query fails.
func (p person) keepsReading(t *testing.T, thread string) steadyReader {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	reading.Go(func() {
		queries := 0
		for ; ctx.Err() == nil; queries++ {
			if _, failed, err := p.tryView(context.WithoutCancel(ctx), thread); err != nil || len(failed) > 0 {
				t.Errorf("a query without a token: %+v, %v", failed, err)
			}
			<-time.After(10 * time.Millisecond)
		}
		if queries < 100 {
			t.Errorf("only %d queries", queries)
		}
	})
	stop := sync.OnceFunc(func() { end(); reading.Wait() })
	t.Cleanup(stop)
	return steadyReader{stop}
}

// follower has the latest version that a subscription has shown.
type follower struct{ latest atomic.Int64 }

// follows subscribes until the test ends. The versions must rise, from that of the token on.
func (p person) follows(t *testing.T, thread, token string) *follower {
	t.Helper()
	f := &follower{}
	p.header = maps.Clone(p.header)
	if token != "" {
		p.header["Consistency-Token"] = token
		_, version, _ := strings.Cut(token, ":")
		least, err := strconv.ParseInt(version, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		f.latest.Store(least - 1)
	}
	ctx, end := context.WithCancel(t.Context())
	var following sync.WaitGroup
	following.Go(func() {
		err := p.subscribe(ctx, thread, "{ version }", func(now threadData) {
			if before := f.latest.Swap(int64(now.Version)); int64(now.Version) <= before {
				t.Errorf("a subscription shows version %d after %d", now.Version, before)
			}
		})
		if ctx.Err() == nil {
			t.Errorf("a subscription has ended: %v", err)
		}
	})
	t.Cleanup(func() { end(); following.Wait() })
	return f
}

// reach returns once the subscription has shown a version.
func (f *follower) reach(t *testing.T, version int) {
	t.Helper()
	testenv.Eventually(t, 20*time.Second, func() error {
		if seen := f.latest.Load(); seen < int64(version) {
			return fmt.Errorf("the subscription shows version %d, not %d", seen, version)
		}
		return nil
	})
}
