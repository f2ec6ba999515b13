package command_test

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/interfaceadaptor/gateway/sqlstore"
	"example.com/threads/interfaceadaptor/stream"
	"example.com/threads/interfaceadaptor/threadcodec"
	"example.com/threads/tests/chattest"
	"example.com/threads/tests/dynamodbtest"
	"example.com/threads/tests/sqlitetest"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/command"
)

func keyed(r threadRequest, key string) threadRequest {
	r.IdempotencyKey = key
	return r
}

func TestARepeatGetsTheFirstAnswer(t *testing.T) {
	gateway := dynamodbtest.New(t)
	here, _ := process(t, gateway)
	there, _ := process(t, gateway)
	id := createThread(t, here)
	rename := keyed(request(ada, id, thread.Rename{Executor: ada, Name: writing.RecordedName("coffee")}), "rename")
	rename.IfVersion = 1
	first := accepted(t, here, rename)
	accepted(t, here, request(ada, id, say(ada, "meanwhile")))
	accepted(t, here, request(ada, id, thread.Delete{Executor: ada}))
	for name, service := range map[string]*chat.ThreadCommands{"the same process": here, "another process": there} {
		// The version has changed, the name is the same, the thread is deleted: a repeat must still get the first
		// answer.
		again := accepted(t, service, rename)
		if !again.Replayed || again.Version != first.Version || again.Key != first.Key {
			t.Errorf("%s: first %+v, then %+v", name, first, again)
		}
	}
}

func TestAKeyBelongsToItsRequest(t *testing.T) {
	service, _ := process(t, dynamodbtest.New(t))
	id, other := createThread(t, service), createThread(t, service)
	accepted(t, service, request(ada, id, thread.AddMember{Executor: ada, User: bob, Role: thread.RoleMember}))
	accepted(t, service, keyed(request(ada, id, say(ada, "one")), "key"))

	rejected(t, service, keyed(request(ada, id, say(ada, "two")), "key"), usecase.ErrKeyReused)
	rejected(t, service, keyed(request(ada, other, say(ada, "one")), "key"), usecase.ErrKeyReused)
	rejected(t, service, keyed(request(ada, newID(t, service), say(ada, "one")), "key"), usecase.ErrKeyReused)
	// The same key of another executor, or for another kind of command, is a different key.
	accepted(t, service, keyed(request(bob, id, say(bob, "one")), "key"))
	accepted(t, service, keyed(request(ada, id, thread.Rename{Executor: ada, Name: writing.RecordedName("coffee")}), "key"))
}

// newID returns the id of a thread that does not exist.
func newID(t *testing.T, service *chat.ThreadCommands) thread.ID {
	t.Helper()
	id := createThread(t, service)
	accepted(t, service, request(ada, id, thread.Delete{Executor: ada}))
	return id
}

func TestARejectionIsNotRemembered(t *testing.T) {
	service, _ := process(t, dynamodbtest.New(t))
	id := createThread(t, service)
	post := keyed(request(bob, id, say(bob, "hello")), "key")
	rejected(t, service, post, thread.ErrNotMember)
	accepted(t, service, request(ada, id, thread.AddMember{Executor: ada, User: bob, Role: thread.RoleMember}))
	if result := accepted(t, service, post); result.Replayed {
		t.Errorf("got %+v", result)
	}
}

// Repeats arrive together, in one process and in two, among other commands: each command must be applied once.
func TestRepeatsThatArriveTogether(t *testing.T) {
	gateway := dynamodbtest.New(t)
	var services []*chat.ThreadCommands
	for range 2 {
		service, _ := process(t, gateway)
		services = append(services, service)
	}
	id := createThread(t, services[0])
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

func TestRepeatedCreationsAreOneThread(t *testing.T) {
	gateway := dynamodbtest.New(t)
	here, _ := process(t, gateway)
	there, _ := process(t, gateway)
	create := thread.Create{Executor: ada, Name: writing.RecordedName("tea")}
	var group sync.WaitGroup
	var ids sync.Map
	for repeat := range 8 {
		group.Go(func() {
			result, err := []*chat.ThreadCommands{here, there}[repeat%2].Handle(t.Context(), keyed(request(ada, thread.ID{}, create), "key"))
			if err != nil {
				t.Errorf("repeat %d: %v", repeat, err)
			}
			ids.Store(result.Key, true)
		})
	}
	group.Wait()
	count := 0
	ids.Range(func(any, any) bool { count++; return true })
	threads := 0
	for _, err := range gateway.Heads(t.Context(), "thread") {
		if err != nil {
			t.Fatal(err)
		}
		threads++
	}
	if count != 1 || threads != 1 {
		t.Errorf("%d ids were answered, %d threads exist", count, threads)
	}
}

func TestEventsTellWhoAskedAndWhy(t *testing.T) {
	gateway := dynamodbtest.New(t)
	service, _ := process(t, gateway)
	tenant, err := usecase.ParseTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	caller := usecase.Caller{
		Tenant: tenant, Executor: ada.String(), RequestID: "request", CorrelationID: "correlation", Source: "test", ClientIP: "192.0.2.7",
	}
	create := keyed(chattest.Request(caller, thread.ID{}, thread.Create{Executor: ada, Name: writing.RecordedName("tea")}), "key")
	result := accepted(t, service, create)
	for record, err := range stream.NewJournalReader(gateway).EventsAfter(t.Context(), result.Key, 0) {
		if err != nil {
			t.Fatal(err)
		}
		recorded, err := threadcodec.Events().Decode(record.Payload)
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
	create.Caller.Tenant, create.ID = usecase.Tenant{}, chattest.NewID[thread.Thread]().String()
	if other := accepted(t, service, create); other.Key == result.Key || other.Replayed {
		t.Errorf("another tenant got %+v", other)
	}
}

// On a relational store a receipt is kept as long as its event, for ever. An earlier release could prune it.
func TestARelationalStoreRemembersEveryKey(t *testing.T) {
	_, db := sqlitetest.New(t)
	var years int
	gateway, err := sqlstore.New(db, sqlstore.Settings{
		Clock: func() time.Time { return time.Now().AddDate(years, 0, 0) }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	service, _ := process(t, gateway)
	create := keyed(request(ada, thread.ID{}, thread.Create{Executor: ada, Name: writing.RecordedName("tea")}), "create")
	created := accepted(t, service, create)
	id, err := ident.Parse[thread.Thread](created.Key.ID)
	if err != nil {
		t.Fatal(err)
	}
	post := keyed(request(ada, id, say(ada, "hello")), "post")
	posted := accepted(t, service, post)

	years = 1
	create.ID = chattest.NewID[thread.Thread]().String() // a repeat does not know the id
	for first, request := range map[*command.Result]threadRequest{&created: create, &posted: post} {
		if again := accepted(t, service, request); !again.Replayed || again.Key != first.Key || again.Version != first.Version {
			t.Errorf("%s: first %+v, then %+v", request.Name, *first, again)
		}
	}
	db.MustExecContext(t.Context(), "DELETE FROM receipts")
	rejected(t, service, post, usecase.ErrKeyReused)
}
