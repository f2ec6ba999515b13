package e2e

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/programs"
)

// The folders with the programs of two releases. The next one has a new field, a new event, a new aggregate type, and
// columns for all three (tools/dev/tutorial). Without the former one, the programs of this tree are taken.
const (
	formerVar = "FORMER_RELEASE"
	nextVar   = "NEXT_RELEASE"
)

// A release replaces the one before it under load, is rolled back, and comes again, in the order of docs/operations.md.
// Clients send what fails for now again, with the same key, to programs of either release. Every command is applied
// once, on the latest state; no query with a token shows older rows; and at the end all data are well.
func TestTwoReleasesSideBySide(t *testing.T) {
	if os.Getenv(nextVar) == "" {
		t.Skipf("left out: it needs the programs of another release in %s; make upgrade-check builds them", nextVar)
	}
	startsPrograms(t)
	for name, of := range map[string]struct {
		store    func(*testing.T) []string
		onLambda bool
	}{"DynamoDB and MySQL": {store: dynamoDB}, "DynamoDB, Lambda and MySQL": {dynamoDB, true}, "one MySQL": {store: oneMySQL}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // much of its time is waiting
			testTwoReleases(t, of.store(t), of.onLambda)
		})
	}
}

func testTwoReleases(t *testing.T, env []string, onLambda bool) {
	f := &fleet{env: env, former: os.Getenv(formerVar), next: os.Getenv(nextVar), ran: map[string]*programs.Program{}}
	if f.former == "" {
		f.former = binaries
	}
	f.run(t, f.former, "migrate", allIsWell, "up")
	if onLambda {
		f.functions = newFunctions(t, env)
	}
	f.start(t, f.former, updater, "read-api", "write-api")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	var all, careful []*releaseClient
	for i := range 6 {
		all = append(all, &releaseClient{fleet: f, name: fmt.Sprint("client-", i), daring: i%2 == 1})
		if i%2 == 0 {
			careful = append(careful, all[i])
		}
	}
	stop := make(chan struct{})
	var working sync.WaitGroup
	for _, c := range all {
		working.Go(func() {
			if err := c.work(ctx, stop); err != nil {
				t.Errorf("%s: %v", c.name, err)
				cancel()
			}
		})
	}
	goOn := func(clients []*releaseClient) {
		t.Helper()
		for _, c := range clients {
			c.rounds.Store(0)
		}
		testenv.Eventually(t, time.Minute, func() error {
			for _, c := range clients {
				if ctx.Err() == nil && c.rounds.Load() < 3 {
					return fmt.Errorf("%s has done %d of 3 more rounds", c.name, c.rounds.Load())
				}
			}
			return nil
		})
	}
	goOn(all)

	// The schema is migrated. Programs of the former release that end by a crash come back.
	f.run(t, f.next, "migrate", allIsWell, "up")
	goOn(all)
	for _, name := range []string{updater, "read-api", "write-api"} {
		f.crash(t, f.former, name)
	}
	f.run(t, f.former, "migrate", allIsWell, "up")
	goOn(all)

	// Forward: two versions of each program, and then the next one alone.
	forward := func() {
		t.Helper()
		f.start(t, f.next, updater)
		goOn(careful)
		f.stop(t, f.former, updater)
		goOn(careful)
		f.start(t, f.next, "read-api")
		goOn(careful)
		f.start(t, f.next, "write-api")
		f.dares.Store(true)
		goOn(all)
		f.crash(t, f.former, "write-api") // and its states: it has the snapshots of the next release alone
		f.crash(t, f.former, "read-api")
		goOn(all)
		f.stop(t, f.former, "write-api")
		f.stop(t, f.former, "read-api")
		goOn(all)
	}
	forward()
	pinned := f.pin(ctx, t)

	// Back: the former release takes no command of a thread with an event that it does not know. All else goes on.
	f.dares.Store(false)
	f.start(t, f.former, "write-api")
	goOn(careful)
	f.stop(t, f.next, "write-api")
	f.start(t, f.former, "read-api")
	f.stop(t, f.next, "read-api")
	f.settled(t, f.next)
	f.start(t, f.former, updater)
	f.stop(t, f.next, updater)
	goOn(careful)
	pinned.mustBeHeld(ctx, t)
	f.mustBeReady(t, f.former)
	f.run(t, f.former, "threadctl", allIsWell, "dead-letters", "list")

	// Forward again. What was held goes on by itself.
	forward()
	pinned.mustGoOn(ctx, t)

	// The wrong order: the former updater projects events of the next release. It parks what it does not know, and the
	// next one takes it up. A field that it has left out is a difference, which is repaired.
	f.dares.Store(false)
	goOn(all)
	f.start(t, f.former, updater)
	f.stop(t, f.next, updater)
	urgent := pinned.pinUnderTheFormerUpdater(ctx, t)
	f.start(t, f.next, updater)
	f.stop(t, f.former, updater)
	pinned.mustBeShown(ctx, t)
	f.run(t, f.next, "threadctl", isWrong, "rows", "verify", "thread-"+urgent, "--tenant", "acme")
	f.run(t, f.next, "threadctl", allIsWell, "rows", "verify", "--repair")
	f.dares.Store(true)
	goOn(all)

	close(stop)
	working.Wait()
	if t.Failed() {
		return
	}
	f.checkJournal(t)
	f.run(t, f.next, "threadctl", allIsWell, "rows", "verify")
	f.run(t, f.next, "threadctl", allIsWell, "dead-letters", "list")
	codes, threads, pins := map[string]bool{}, 0, 0
	for _, c := range all {
		for _, thread := range c.threads {
			if err := c.look(ctx, thread, true); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			codes[thread.code] = true
			threads++
			if thread.pinned != "" {
				pins++
			}
		}
	}
	if len(codes) != threads {
		t.Errorf("%d threads have %d codes", threads, len(codes))
	}
	t.Logf("%d threads, %d with a pinned message; %d answers repeated; refused for now: %v", threads, pins, f.replayed.Load(), &f.refusals)
}
