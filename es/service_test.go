package es_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/dynamodb/dynamodbtest"
	"example.com/threads/es/estest/faulty"
	"example.com/threads/es/estest/notebook"
)

// process is a service with a repository and a cache of its own, like each process. The gateway that it returns injects
// a fault into its appends.
func process(t *testing.T, gateway es.EventPersistenceGateway) (*notebook.Service, *faulty.Gateway) {
	f := &faulty.Gateway{EventPersistenceGateway: gateway}
	service := es.NewService(notebook.Aggregate(), f, es.Settings{Timeout: 20 * time.Second, SnapshotEvery: 20, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	t.Cleanup(func() { closed(t, service) })
	return service, f
}

// closed ends the service.
func closed(t *testing.T, service *notebook.Service) {
	t.Helper()
	if err := service.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// sends is an append that meets no fault.
type sends = func(context.Context) error

type notebookRequest = es.Request[notebook.Command]

var ada, bob = notebook.NewID(), notebook.NewID()

func request(executor, id string, c notebook.Command) notebookRequest {
	return notebook.Request(es.Caller{Executor: executor, Source: "test"}, id, c)
}

func open(t *testing.T, service *notebook.Service) string {
	t.Helper()
	return accepted(t, service, request(ada, "", notebook.Open{By: ada, Title: "tea"})).Key.ID
}

func say(who string, text string) notebook.Write {
	return notebook.Write{By: who, Text: text}
}

func accepted(t *testing.T, service *notebook.Service, r notebookRequest) es.Result {
	t.Helper()
	result, err := service.Handle(t.Context(), r)
	if err != nil {
		t.Fatalf("%T: %v", r.Command, err)
	}
	return result
}

func rejected(t *testing.T, service *notebook.Service, r notebookRequest, want error) {
	t.Helper()
	if result, err := service.Handle(t.Context(), r); !errors.Is(err, want) {
		t.Errorf("%T: got %+v, %v, want %v", r.Command, result, err, want)
	}
}

// postsBy posts from several goroutines and returns the versions of the accepted posts.
func postsBy(t *testing.T, clients, each int, post func(client, number int) (es.Result, error)) map[uint64]int {
	t.Helper()
	var mutex sync.Mutex
	var group sync.WaitGroup
	versions := map[uint64]int{}
	for client := range clients {
		group.Go(func() {
			for number := range each {
				result, err := post(client, number)
				if err != nil {
					t.Errorf("client %d, post %d: %v", client, number, err)
					return
				}
				mutex.Lock()
				versions[result.Version]++
				mutex.Unlock()
			}
		})
	}
	group.Wait()
	return versions
}

func checkContiguous(t *testing.T, versions map[uint64]int, from, to uint64) {
	t.Helper()
	for version := from; version <= to; version++ {
		if versions[version] != 1 {
			t.Errorf("%d commands made version %d", versions[version], version)
		}
	}
	if len(versions) != int(to-from+1) {
		t.Errorf("%d versions from %d to %d", len(versions), from, to)
	}
}

func TestCommandsForOneAggregateShareWrites(t *testing.T) {
	service, store := process(t, dynamodbtest.New(t))
	id := open(t, service)
	var writes atomic.Int64
	slow := faulty.Late(5 * time.Millisecond)
	store.Fault = func(ctx context.Context, send sends) error {
		writes.Add(1)
		return slow(ctx, send)
	}
	versions := postsBy(t, 32, 10, func(client, number int) (es.Result, error) {
		return service.Handle(t.Context(), request(ada, id, say(ada, fmt.Sprint(client, number))))
	})
	checkContiguous(t, versions, 2, 321)
	if writes.Load() > 320/2 {
		t.Errorf("320 commands of 32 clients took %d writes", writes.Load())
	}
}

// Events that together are too large for one write, or one that is too large alone, must not fail the other commands.
func TestWhatTheStoreCanNotTakeFailsItsCommandAlone(t *testing.T) {
	service, store := process(t, dynamodbtest.New(t))
	id := open(t, service)
	slow := faulty.Late(200 * time.Millisecond) // so that many share a write
	store.Fault = func(ctx context.Context, send sends) error { return slow(ctx, send) }
	var failed atomic.Int64
	var clients sync.WaitGroup
	for client := range 20 {
		clients.Go(func() {
			text := strings.Repeat("x", 300_000)
			if client == 7 {
				text = strings.Repeat("x", 500_000) // an item has at most 400 KB
			}
			if _, err := service.Handle(t.Context(), request(ada, id, say(ada, text))); err != nil {
				failed.Add(1)
				if client != 7 {
					t.Errorf("client %d: %.200s", client, err.Error())
				}
			}
		})
	}
	clients.Wait()
	if result := accepted(t, service, request(ada, id, say(ada, "next"))); result.Version != 1+19+1 || failed.Load() != 1 {
		t.Errorf("version %d, %d failed", result.Version, failed.Load())
	}
}

func TestTwoProcessesOnOneAggregate(t *testing.T) {
	gateway := dynamodbtest.New(t)
	here, _ := process(t, gateway)
	there, _ := process(t, gateway)
	id := open(t, here)
	services := []*notebook.Service{here, there}
	versions := postsBy(t, 8, 10, func(client, number int) (es.Result, error) {
		return services[client%2].Handle(t.Context(), request(ada, id, say(ada, fmt.Sprint(client, number))))
	})
	checkContiguous(t, versions, 2, 81)
}

// A process's cached state may be outdated by another process. Neither an acceptance nor a rejection may be based on
// it.
func TestDecisionsAreMadeOnTheLatestState(t *testing.T) {
	gateway := dynamodbtest.New(t)
	here, _ := process(t, gateway)
	there, _ := process(t, gateway)
	id := open(t, here)
	rejected(t, there, request(bob, id, say(bob, "too early")), notebook.ErrNotShared)
	accepted(t, here, request(ada, id, notebook.Share{By: ada, With: bob}))
	accepted(t, there, request(bob, id, say(bob, "now")))
	accepted(t, here, request(ada, id, notebook.Unshare{By: ada, With: bob}))
	rejected(t, there, request(bob, id, say(bob, "too late")), notebook.ErrNotShared)
	accepted(t, here, request(ada, id, notebook.Close{By: ada}))
	rejected(t, there, request(ada, id, say(ada, "too late")), notebook.ErrClosed)
}

func TestIfVersion(t *testing.T) {
	gateway := dynamodbtest.New(t)
	here, _ := process(t, gateway)
	there, _ := process(t, gateway)
	id := open(t, here)
	services := []*notebook.Service{here, there}

	var wins, mismatches atomic.Int64
	var group sync.WaitGroup
	for client := range 10 {
		group.Go(func() {
			r := request(ada, id, say(ada, fmt.Sprint(client)))
			r.IfVersion = 1
			_, err := services[client%2].Handle(t.Context(), r)
			var mismatch *es.VersionMismatchError
			switch {
			case err == nil:
				wins.Add(1)
			case errors.As(err, &mismatch) && mismatch.Expected == 1 && mismatch.Current == 2:
				mismatches.Add(1)
			default:
				t.Errorf("client %d: %v", client, err)
			}
		})
	}
	group.Wait()
	if wins.Load() != 1 || mismatches.Load() != 9 {
		t.Errorf("%d won, %d were told of the mismatch", wins.Load(), mismatches.Load())
	}
	r := request(ada, id, say(ada, "right"))
	foreign := request(bob, id, say(bob, "let me in"))
	foreign.IfVersion = 1
	if _, err := there.Handle(t.Context(), foreign); es.KindOf(err) != es.Forbidden {
		t.Errorf("a stranger is answered with %v", err)
	}
	r.IfVersion = 2
	if result := accepted(t, there, r); result.Version != 3 {
		t.Errorf("version %d", result.Version)
	}
	accepted(t, here, request(ada, id, notebook.Close{By: ada}))
	if _, err := there.Handle(t.Context(), foreign); !errors.Is(err, notebook.ErrClosed) {
		t.Errorf("of one that has ended, a stranger is told %v", err)
	}
}

// A shelf takes pieces before it exists: a mistyped id must not make another one.
func TestIfVersionOfWhatDoesNotExist(t *testing.T) {
	w := openWarehouse(t.Context())
	defer w.close()
	_, err := w.Handle(t.Context(), es.Request[Move]{ID: bolts.ID, Name: "Move", Command: Move{1}, IfVersion: 7})
	if es.KindOf(err) != es.VersionMismatch {
		t.Error(err)
	}
}

func TestConflictsAreRetried(t *testing.T) {
	service, store := process(t, dynamodbtest.New(t))
	id := open(t, service)
	attempts := 0
	store.Fault = func(ctx context.Context, send sends) error {
		if attempts++; attempts <= 3 {
			return es.ErrConflict
		}
		return send(ctx)
	}
	if result := accepted(t, service, request(ada, id, say(ada, "patience"))); result.Version != 2 {
		t.Errorf("version %d", result.Version)
	}
}

// A caller who has gone may repeat the command elsewhere, and be told that it is rejected: what it left here, in
// conflict with other writers, must not be applied afterwards.
func TestAnAbandonedCommandEndsAtAConflict(t *testing.T) {
	gateway := dynamodbtest.New(t)
	service, store := process(t, gateway)
	there, _ := process(t, gateway)
	id := open(t, service)
	ctx, leave := context.WithCancel(t.Context())
	store.Fault = func(context.Context, sends) error {
		store.Fault = nil
		accepted(t, there, request(ada, id, say(ada, "faster")))
		leave()
		return es.ErrConflict
	}
	if _, err := service.Handle(ctx, keyed(request(ada, id, notebook.Rename{By: ada, Title: "coffee"}), "key")); !errors.Is(err, context.Canceled) {
		t.Errorf("the caller who has gone: %v", err)
	}
	if result := accepted(t, service, request(ada, id, say(ada, "next"))); result.Version != 3 {
		t.Errorf("version %d: the abandoned command was applied", result.Version)
	}
}

// contested is a store where other writers are always faster.
func contested(gateway es.EventPersistenceGateway) es.EventPersistenceGateway {
	return &faulty.Gateway{EventPersistenceGateway: gateway, Fault: faulty.Refuse(es.ErrConflict)}
}

// A command that is given up must be answered in time, and the operator must be told.
func TestConflictsWithoutEndAreGivenUp(t *testing.T) {
	gateway := dynamodbtest.New(t)
	other, _ := process(t, gateway)
	id := open(t, other)
	service, log, metrics := logging(t, contested(gateway), es.Settings{Timeout: 5 * time.Second})
	began := time.Now()
	rejected(t, service, request(ada, id, say(ada, "in vain")), es.ErrConcurrentUpdate)
	if took := time.Since(began); took < time.Second || took > time.Minute {
		t.Errorf("given up after %s", took)
	}
	closed(t, service)
	givenUp, conflicts := measuredOf(t, metrics, "commands_given_up_total"), measuredOf(t, metrics, "commands_conflicts_total")
	if givenUp != 1 || conflicts < 5 || !strings.Contains(log.String(), "aggregate=notebook-"+id) ||
		!strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "attempts=") {
		t.Errorf("%v given up after %v conflicts: %s", givenUp, conflicts, log.String())
	}
}

// TestAReloadThatIsCutOffAfterAConflict: the write was refused, so the outcome is known.
func TestAReloadThatIsCutOffAfterAConflict(t *testing.T) {
	service := es.NewService(notebook.Aggregate(), silentHead{contested(dynamodbtest.New(t))}, es.Settings{Timeout: 100 * time.Millisecond})
	rejected(t, service, request(ada, "", notebook.Open{By: ada, Title: "tea"}), es.ErrConcurrentUpdate)
	closed(t, service)
}

// silentHead answers no request for a head.
type silentHead struct{ es.EventPersistenceGateway }

func (silentHead) Head(ctx context.Context, _ es.AggregateID) (es.Head, error) {
	<-ctx.Done()
	return es.Head{}, ctx.Err()
}

func TestAPanicIsAnErrorOfItsCommand(t *testing.T) {
	service, store := process(t, dynamodbtest.New(t))
	id := open(t, service)
	store.Fault = func(context.Context, sends) error { panic("out of order") }
	_, err := service.Handle(t.Context(), request(ada, id, say(ada, "hello?")))
	if es.KindOf(err) != es.Internal || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("got %v", err)
	}
	store.Fault = nil
	if result := accepted(t, service, request(ada, id, say(ada, "hello"))); result.Version != 2 {
		t.Errorf("the next command: %+v", result)
	}
}

// Commands that share a write are decided together: the one whose decision panics fails alone.
func TestAPanicOfADecisionFailsItsCommandAlone(t *testing.T) {
	gateway := dynamodbtest.New(t)
	opener, _ := process(t, gateway)
	id := open(t, opener)
	aggregate := notebook.Aggregate()
	decide := aggregate.Decide
	aggregate.Decide = func(n notebook.Notebook, c notebook.Command) ([]notebook.Event, error) {
		if c == notebook.Command(say(ada, "out of order")) {
			panic("out of order")
		}
		return decide(n, c)
	}
	store := &faulty.Gateway{EventPersistenceGateway: gateway}
	service := es.NewService(aggregate, store, es.Settings{Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { closed(t, service) })
	underWay, goOn := make(chan struct{}), make(chan struct{})
	store.Fault = func(ctx context.Context, send sends) error {
		store.Fault = nil
		close(underWay)
		<-goOn
		return send(ctx)
	}
	var all sync.WaitGroup
	post := func(text string) {
		all.Go(func() {
			if _, err := service.Handle(t.Context(), request(ada, id, say(ada, text))); (err != nil) != (text == "out of order") {
				t.Errorf("%s: %v", text, err)
			}
		})
	}
	post("first")
	<-underWay
	for _, text := range []string{"second", "out of order", "third"} {
		post(text)
	}
	_ = es.Wait(t.Context(), 100*time.Millisecond) // they wait together
	close(goOn)
	all.Wait()
	if result := accepted(t, service, request(ada, id, say(ada, "last"))); result.Version != 5 {
		t.Errorf("version %d after four messages", result.Version)
	}
}

// The answer to a write is lost: the process does not know the outcome, and its cached state is outdated.
func TestALostAnswer(t *testing.T) {
	service, store := process(t, dynamodbtest.New(t))
	id := open(t, service)
	store.Fault = faulty.LoseAnswer
	keyed := request(ada, id, say(ada, "heard?"))
	keyed.IdempotencyKey = "key"
	rejected(t, service, keyed, es.ErrUnavailable)
	store.Fault = nil
	if result := accepted(t, service, keyed); result.Version != 2 || !result.Replayed {
		t.Errorf("the repeat: %+v", result)
	}
	if result := accepted(t, service, request(ada, id, say(ada, "next"))); result.Version != 3 {
		t.Errorf("the next command: %+v", result)
	}
}

func TestACallerWhoLeaves(t *testing.T) {
	service, store := process(t, dynamodbtest.New(t))
	id := open(t, service)
	underWay, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	store.Fault = func(ctx context.Context, send sends) error {
		once.Do(func() { close(underWay) })
		<-goOn
		return send(ctx)
	}
	ctx, leave := context.WithCancel(t.Context())
	first, second := make(chan error), make(chan error)
	handle := func(text string, answered chan error) {
		_, err := service.Handle(ctx, request(ada, id, say(ada, text)))
		answered <- err
	}
	go handle("bye", first)
	<-underWay
	go handle("me, too", second)
	leave()
	if err := <-second; es.KindOf(err) != es.Canceled {
		t.Errorf("who leaves before a write is told %v", err)
	}
	close(goOn)
	if err := <-first; err != nil {
		t.Errorf("who leaves during the write is told %v", err)
	}
	if result := accepted(t, service, request(ada, id, say(ada, "still here"))); result.Version != 3 {
		t.Errorf("version %d after the one that was under way", result.Version)
	}
	closed(t, service)
}

func TestSnapshotOnRequest(t *testing.T) {
	service, _ := process(t, dynamodbtest.New(t))
	id := open(t, service)
	accepted(t, service, request(ada, id, say(ada, "hello")))
	caller := es.Caller{Executor: ada}
	if version, err := service.Snapshot(t.Context(), caller, id); version != 2 || err != nil {
		t.Errorf("version %d, %v", version, err)
	}
	if version, err := service.Snapshot(t.Context(), caller, id); version != 2 || err != nil {
		t.Errorf("again: version %d, %v", version, err)
	}
	if _, err := service.Snapshot(t.Context(), es.Caller{Tenant: "rival"}, id); !errors.Is(err, notebook.ErrNotFound) {
		t.Errorf("another tenant: %v", err)
	}
	accepted(t, service, request(ada, id, notebook.Close{By: ada}))
	if _, err := service.Snapshot(t.Context(), caller, id); !errors.Is(err, notebook.ErrClosed) {
		t.Errorf("deleted: %v", err)
	}
}
