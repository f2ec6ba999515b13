package tasks_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/es/projection"
	"example.com/threads/extras/tasks"
	"example.com/threads/extras/tasks/task"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/interfaceadaptor/graphql/generated"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
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
	id := readmodeltest.NewID[task.Task]()
	f.next(id, task.Created{Request: task.Request{Creator: creator, Kind: task.Import, Parts: 1, Total: 10}})
	return id
}

// next projects a task's next event.
func (f taskFeed) next(id task.ID, event task.Event) {
	feed.Happened(f.Feed, task.Events(), f.tenant, id.String(), event)
}

// endpoint is a GraphQL endpoint without the core's fields.
type endpoint string

func serveTasks(t *testing.T, db *readmodeltest.Database) endpoint {
	t.Helper()
	reader, log := readmodeltest.NewReader(t, db.DB), slog.New(slog.DiscardHandler)
	watcher := projection.NewWatcher(reader.Versions, log)
	go watcher.Run(t.Context())
	queries := query.New(reader, watcher, query.Settings{})
	type others struct{ generated.Resolvers }
	schema := generated.Executable(generated.Schema(), struct {
		tasks.TaskResolver
		others
	}{TaskResolver: tasks.TaskResolver{Tables: reader, Changes: queries}})
	server := httptest.NewServer(graphql.NewHandler(t.Context(), queries, schema, log, graphql.Settings{}))
	t.Cleanup(server.Close)
	return endpoint(server.URL)
}

// graphqlAnswer is a GraphQL answer.
type graphqlAnswer struct {
	Data   json.RawMessage
	Errors []struct{ Extensions struct{ Code string } }
}

func (a graphqlAnswer) code() string {
	if len(a.Errors) != 1 {
		return fmt.Sprintf("%d errors", len(a.Errors))
	}
	return a.Errors[0].Extensions.Code
}

func (a graphqlAnswer) into(t *testing.T, data any) {
	t.Helper()
	if err := json.Unmarshal(a.Data, data); err != nil || len(a.Errors) > 0 {
		t.Fatalf("%s %+v: %v", a.Data, a.Errors, err)
	}
}

func (e endpoint) post(t *testing.T, tenant, accept, document string) io.Reader {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, string(e), strings.NewReader(`{"query": `+strconv.Quote(document)+`}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {accept}, "X-Tenant-Code": {tenant}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response.Body
}

func (e endpoint) ask(t *testing.T, tenant, document string) (got graphqlAnswer) {
	t.Helper()
	if err := json.NewDecoder(e.post(t, tenant, "application/json", document)).Decode(&got); err != nil {
		t.Fatal(err)
	}
	return got
}

// events are server-sent events.
type events struct{ lines *bufio.Scanner }

func (e endpoint) subscribe(t *testing.T, tenant, document string) events {
	t.Helper()
	return events{bufio.NewScanner(e.post(t, tenant, "text/event-stream", document))}
}

// take returns the next event; the empty one is the end.
func (e events) take(t *testing.T) (event string, got graphqlAnswer) {
	t.Helper()
	for e.lines.Scan() {
		field, value, _ := strings.Cut(e.lines.Text(), ":")
		value = strings.TrimSpace(value)
		switch {
		case e.lines.Text() == "" && event != "":
			return event, got
		case field == "event":
			event = value
		case field == "data" && value != "":
			if err := json.Unmarshal([]byte(value), &got); err != nil {
				t.Fatalf("%s: %v", value, err)
			}
		}
	}
	return "", graphqlAnswer{}
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

		ask := func(tenant, document string) graphqlAnswer { return a.ask(t, tenant, document) }
		get := func(viewer ident.UserID) string {
			return fmt.Sprintf(`{ getTask(taskId: "%s", userAccountId: "%s") {
				id taskId kind status done total rejected message version createdAt updatedAt createdBy } }`, first, viewer)
		}
		want := fmt.Sprintf(`{"getTask": {"id": "%[1]s", "taskId": "%[1]s", "kind": "import", "status": "failed", "done": 7,
			"total": 10, "rejected": 0, "message": "", "version": 2, "createdAt": "%[2]s", "updatedAt": "%[3]s", "createdBy": "%[4]s"}}`, first, created, changed, alice)
		var shown, wanted any
		ask("acme", get(alice)).into(t, &shown)
		if err := json.Unmarshal([]byte(want), &wanted); err != nil || !reflect.DeepEqual(shown, wanted) {
			t.Errorf("%v, want %s, %v", shown, want, err)
		}
		for about, got := range map[string]graphqlAnswer{"somebody else": ask("acme", get(bob)), "another tenant": ask("globex", get(alice))} {
			if got.code() != "NOT_FOUND" {
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
		ask("acme", fmt.Sprintf(`{ tasks(userAccountId: "%s", first: 1) { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage } } }`, alice)).into(t, &page)
		if tasks := page.Tasks; len(tasks.Edges) != 1 || tasks.Edges[0].Node.ID != second.String() || !tasks.PageInfo.HasNextPage {
			t.Fatalf("the latest task: %+v", tasks)
		}
		ask("acme", fmt.Sprintf(`{ tasks(userAccountId: "%s", after: "%s") { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage } } }`,
			alice, page.Tasks.Edges[0].Cursor)).into(t, &page)
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
		s := a.subscribe(t, "acme", document(alice))
		want := func(status task.Status, done int) {
			t.Helper()
			event, got := s.take(t)
			if want := fmt.Sprintf(`{"taskChanged":{"status":"%s","done":%d}}`, status, done); event != "next" || string(got.Data) != want {
				t.Fatalf("%s %s, want %s", event, got.Data, want)
			}
		}
		want(task.Queued, 0)
		w.next(id, task.Progressed{Progress: task.Progress{Done: 4, Total: 10}})
		want(task.Running, 4)
		w.next(id, task.Finished{Status: task.Succeeded, Progress: task.Progress{Done: 10, Total: 10}})
		want(task.Succeeded, 10)
		if event, _ := s.take(t); event != "complete" {
			t.Errorf("%s after the end", event)
		}
		others := a.subscribe(t, "acme", document(bob))
		if event, got := others.take(t); event != "next" || got.code() != "NOT_FOUND" {
			t.Errorf("somebody else: %s %s %+v", event, got.Data, got.Errors)
		}
	}, tasks.Schema())
}
