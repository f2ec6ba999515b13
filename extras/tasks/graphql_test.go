package tasks_test

import (
	"fmt"
	"testing"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/extras/tasks"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/interfaceadaptor/graphql/generated"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/tests/graphqltest"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/kit/feed"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase/query"
)

// taskFeed projects the events of a tenant's tasks.
type taskFeed struct {
	*feed.Feed
	tenant es.Tenant
}

func newTaskFeed(t *testing.T, db *readmodeltest.Database, tenant es.Tenant) taskFeed {
	t.Helper()
	return taskFeed{feed.New(t, db.DB, chatrows.Projection, tasks.Handler()), tenant}
}

// created creates a queued import of 10 lines.
func (f taskFeed) created(creator ident.UserID) task.ID {
	id := kit.NewID[task.Task]()
	f.next(id, task.Created{Request: task.Request{Creator: creator, Kind: task.Import, Parts: 1, Total: 10}})
	return id
}

// next projects a task's next event.
func (f taskFeed) next(id task.ID, event task.Event) {
	feed.Happened(f.Feed, task.Events(), f.tenant, id.String(), event)
}

// serveTasks runs a GraphQL endpoint without the core's fields.
func serveTasks(t *testing.T, db *readmodeltest.Database) *graphqltest.API {
	t.Helper()
	return graphqltest.Serve(t, db, graphqltest.Settings{Executable: func(queries *query.Queries) graphql.Executable {
		type others struct{ generated.Resolvers }
		return generated.Executable(generated.Schema(), struct {
			tasks.TaskResolver
			others
		}{TaskResolver: tasks.TaskResolver{Tables: readmodeltest.NewReader(t, db.DB), Changes: queries}})
	}})
}

func TestTasksOfTheirCreators(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		a, w := serveTasks(t, db), newTaskFeed(t, db, "acme")
		alice, bob := readmodeltest.NewUser(), readmodeltest.NewUser()
		first := w.created(alice)
		created := w.Now().Format("2006-01-02T15:04:05.000000Z")
		second := w.created(alice)
		w.created(bob)
		w.next(first, task.Finished{Status: task.Failed, Progress: task.Progress{Done: 7, Total: 10}})
		changed := w.Now().Format("2006-01-02T15:04:05.000000Z")

		ask := func(tenant, document string) graphqltest.Answer {
			return a.Ask(t, graphqltest.Asked{Tenant: tenant}, document)
		}
		get := func(viewer ident.UserID) string {
			return fmt.Sprintf(`{ getTask(taskId: "%s", userAccountId: "%s") {
				id taskId kind status done total rejected message version createdAt updatedAt createdBy } }`, first, viewer)
		}
		want := fmt.Sprintf(`{"getTask": {"id": "%[1]s", "taskId": "%[1]s", "kind": "import", "status": "failed", "done": 7,
			"total": 10, "rejected": 0, "message": "", "version": 2, "createdAt": "%[2]s", "updatedAt": "%[3]s", "createdBy": "%[4]s"}}`, first, created, changed, alice)
		graphqltest.SameJSON(t, ask("acme", get(alice)).Data, want)
		for about, got := range map[string]graphqltest.Answer{"somebody else": ask("acme", get(bob)), "another tenant": ask("globex", get(alice))} {
			if got.Code() != "NOT_FOUND" {
				t.Errorf("%s: %s %+v", about, got.Data, got.Errors)
			}
		}

		var page struct {
			Tasks struct {
				Edges []struct {
					Cursor string
					Node   struct{ ID string }
				}
				PageInfo struct{ HasNextPage, HasPreviousPage bool }
			}
		}
		ask("acme", fmt.Sprintf(`{ tasks(userAccountId: "%s", first: 1) { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage } } }`, alice)).Into(t, &page)
		if tasks := page.Tasks; len(tasks.Edges) != 1 || tasks.Edges[0].Node.ID != second.String() || !tasks.PageInfo.HasNextPage {
			t.Fatalf("the latest task: %+v", tasks)
		}
		ask("acme", fmt.Sprintf(`{ tasks(userAccountId: "%s", after: "%s") { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage } } }`,
			alice, page.Tasks.Edges[0].Cursor)).Into(t, &page)
		if tasks := page.Tasks; len(tasks.Edges) != 1 || tasks.Edges[0].Node.ID != first.String() || tasks.PageInfo.HasNextPage || !tasks.PageInfo.HasPreviousPage {
			t.Errorf("the rest: %+v", tasks)
		}
	}, tasks.Schema())
}

// A subscription to a task must report its progress and end with it.
func TestATaskIsFollowedToItsEnd(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		a, w := serveTasks(t, db), newTaskFeed(t, db, "acme")
		alice, bob := readmodeltest.NewUser(), readmodeltest.NewUser()
		id := w.created(alice)
		document := func(viewer ident.UserID) string {
			return fmt.Sprintf(`subscription { taskChanged(taskId: "%s", userAccountId: "%s") { status done } }`, id, viewer)
		}
		s := graphqltest.SubscribeByEvents(t, a, graphqltest.Asked{Tenant: "acme"}, document(alice))
		want := func(status task.Status, done int) {
			t.Helper()
			event, got := s.Take(t)
			if want := fmt.Sprintf(`{"taskChanged":{"status":"%s","done":%d}}`, status, done); event != graphqltest.EventNext || string(got.Data) != want {
				t.Fatalf("%s %s, want %s", event, got.Data, want)
			}
		}
		want(task.Queued, 0)
		w.next(id, task.Progressed{Progress: task.Progress{Done: 4, Total: 10}})
		want(task.Running, 4)
		w.next(id, task.Finished{Status: task.Succeeded, Progress: task.Progress{Done: 10, Total: 10}})
		want(task.Succeeded, 10)
		if event, _ := s.Take(t); event != graphqltest.EventComplete {
			t.Errorf("%s after the end", event)
		}
		others := graphqltest.SubscribeByEvents(t, a, graphqltest.Asked{Tenant: "acme"}, document(bob))
		if event, got := others.Take(t); event != graphqltest.EventNext || got.Code() != "NOT_FOUND" {
			t.Errorf("somebody else: %s %s %+v", event, got.Data, got.Errors)
		}
	}, tasks.Schema())
}
