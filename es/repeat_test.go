package es_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/dynamodb/dynamodbtest"
	"example.com/threads/es/estest/notebook"
	"example.com/threads/es/sqlstore"
)

func keyed(r notebookRequest, key string) notebookRequest {
	r.IdempotencyKey = key
	return r
}

func TestARepeatGetsTheFirstAnswer(t *testing.T) {
	gateway := dynamodbtest.New(t)
	here, _ := process(t, gateway)
	there, _ := process(t, gateway)
	id := open(t, here)
	rename := keyed(request(ada, id, notebook.Rename{By: ada, Title: "coffee"}), "rename")
	rename.IfVersion = 1
	first := accepted(t, here, rename)
	accepted(t, here, request(ada, id, say(ada, "meanwhile")))
	accepted(t, here, request(ada, id, notebook.Close{By: ada}))
	for name, service := range map[string]*notebook.Service{"the same process": here, "another process": there} {
		// The version has changed, the name is the same, the notebook is closed: a repeat must still get the first
		// answer.
		again := accepted(t, service, rename)
		if !again.Replayed || again.Version != first.Version || again.Key != first.Key {
			t.Errorf("%s: first %+v, then %+v", name, first, again)
		}
	}
}

func TestAKeyBelongsToItsRequest(t *testing.T) {
	service, _ := process(t, dynamodbtest.New(t))
	id, other := open(t, service), open(t, service)
	accepted(t, service, request(ada, id, notebook.Share{By: ada, With: bob}))
	accepted(t, service, keyed(request(ada, id, say(ada, "one")), "key"))

	rejected(t, service, keyed(request(ada, id, say(ada, "two")), "key"), es.ErrKeyReused)
	rejected(t, service, keyed(request(ada, other, say(ada, "one")), "key"), es.ErrKeyReused)
	rejected(t, service, keyed(request(ada, newID(t, service), say(ada, "one")), "key"), es.ErrKeyReused)
	// The same key of another executor, or for another kind of command, is a different key.
	accepted(t, service, keyed(request(bob, id, say(bob, "one")), "key"))
	accepted(t, service, keyed(request(ada, id, notebook.Rename{By: ada, Title: "coffee"}), "key"))
}

// newID returns the id of a notebook that is closed.
func newID(t *testing.T, service *notebook.Service) string {
	t.Helper()
	id := open(t, service)
	accepted(t, service, request(ada, id, notebook.Close{By: ada}))
	return id
}

func TestARejectionIsNotRemembered(t *testing.T) {
	service, _ := process(t, dynamodbtest.New(t))
	id := open(t, service)
	post := keyed(request(bob, id, say(bob, "hello")), "key")
	rejected(t, service, post, notebook.ErrNotShared)
	accepted(t, service, request(ada, id, notebook.Share{By: ada, With: bob}))
	if result := accepted(t, service, post); result.Replayed {
		t.Errorf("got %+v", result)
	}
}

// Repeats arrive together, in one process and in two, among other commands: each command must be applied once.
func TestRepeatsThatArriveTogether(t *testing.T) {
	gateway := dynamodbtest.New(t)
	var services []*notebook.Service
	for range 2 {
		service, _ := process(t, gateway)
		services = append(services, service)
	}
	id := open(t, services[0])
	const commands, repeats = 10, 6
	var mutex sync.Mutex
	var group sync.WaitGroup
	answered := make([]uint64, commands)
	answers := make([]map[string]int, commands)
	for number := range commands {
		answers[number] = map[string]int{}
		for repeat := range repeats {
			group.Go(func() {
				post := keyed(request(ada, id, say(ada, fmt.Sprint(number))), fmt.Sprint(number))
				result, err := services[repeat%2].Handle(t.Context(), post)
				if err != nil {
					t.Errorf("command %d, repeat %d: %v", number, repeat, err)
				}
				result.Replayed = false
				mutex.Lock()
				answers[number][fmt.Sprint(result)]++
				answered[number] = result.Version
				mutex.Unlock()
			})
		}
	}
	group.Wait()
	versions := map[uint64]int{}
	for number, same := range answers {
		if len(same) != 1 {
			t.Errorf("command %d has the answers %v", number, same)
		}
		versions[answered[number]]++
	}
	checkContiguous(t, versions, 2, 1+commands)
}

func TestRepeatedCreationsAreOneAggregate(t *testing.T) {
	gateway := dynamodbtest.New(t)
	here, _ := process(t, gateway)
	there, _ := process(t, gateway)
	create := notebook.Open{By: ada, Title: "tea"}
	var group sync.WaitGroup
	var ids sync.Map
	for repeat := range 8 {
		group.Go(func() {
			result, err := []*notebook.Service{here, there}[repeat%2].Handle(t.Context(), keyed(request(ada, "", create), "key"))
			if err != nil {
				t.Errorf("repeat %d: %v", repeat, err)
			}
			ids.Store(result.Key, true)
		})
	}
	group.Wait()
	count := 0
	ids.Range(func(any, any) bool { count++; return true })
	notebooks := 0
	for _, err := range gateway.Heads(t.Context(), notebook.Type) {
		if err != nil {
			t.Fatal(err)
		}
		notebooks++
	}
	if count != 1 || notebooks != 1 {
		t.Errorf("%d ids were answered, %d notebooks exist", count, notebooks)
	}
}

func TestEventsTellWhoAskedAndWhy(t *testing.T) {
	gateway := dynamodbtest.New(t)
	service, _ := process(t, gateway)
	caller := es.Caller{
		Tenant: "acme", Executor: ada, RequestID: "request", CorrelationID: strings.Repeat("~", 128), Source: "test", ClientIP: "192.0.2.7",
	}
	create := keyed(notebook.Request(caller, "", notebook.Open{By: ada, Title: "tea"}), "key")
	result := accepted(t, service, create)
	for record, err := range gateway.Entries(t.Context(), result.Key, 0, result.Version) {
		if err != nil {
			t.Fatal(err)
		}
		recorded, err := notebook.Events().Decode(record.Payload)
		if err != nil {
			t.Fatal(err)
		}
		want := caller
		want.CausationID = recorded.CommandID
		if recorded.Caller != want || recorded.CommandID == "" || recorded.EventID == "" || recorded.OccurredAt.IsZero() {
			t.Errorf("got %+v", recorded.Envelope)
		}
	}
	// The same request of another tenant is a different command.
	create.Caller.Tenant, create.ID = es.Tenant(""), notebook.NewID()
	if other := accepted(t, service, create); other.Key == result.Key || other.Replayed {
		t.Errorf("another tenant got %+v", other)
	}
}

// On a relational store a receipt is kept as long as its event, for ever. An earlier release could prune it.
func TestARelationalStoreRemembersEveryKey(t *testing.T) {
	store, err := sqlstore.OpenFile(t.Context(), filepath.Join(t.TempDir(), "events.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close(context.WithoutCancel(t.Context())) })
	service, _ := process(t, store)
	post := keyed(request(ada, open(t, service), say(ada, "hello")), "post")
	first := accepted(t, service, post)
	store.DB.MustExecContext(t.Context(), "UPDATE receipts SET expires_at = 0")
	if again := accepted(t, service, post); !again.Replayed || again.Version != first.Version {
		t.Errorf("first %+v, then %+v", first, again)
	}
	store.DB.MustExecContext(t.Context(), "DELETE FROM receipts")
	rejected(t, service, post, es.ErrKeyReused)
}
