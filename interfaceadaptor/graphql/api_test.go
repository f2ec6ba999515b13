package graphql_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"example.com/threads/domain/thread"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/interfaceadaptor/graphql/generated"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase/query"
)

// testAPI is a running GraphQL endpoint on a read model.
type testAPI struct {
	url         string // of the endpoint
	log         *testenv.Log
	stopStreams context.CancelFunc
	statements  func() int64
	connections *countingListener
}

// settings are the endpoint's settings that a test can change.
type settings struct {
	graphql.Settings
	wait time.Duration
}

// executable returns the schema with the core's resolvers. Fields of extras have none.
func executable(queries *query.Queries) graphql.Executable {
	type extras struct{ generated.Resolvers }
	return generated.Executable(generated.Schema(), struct {
		graphql.Resolver
		extras
	}{Resolver: graphql.Resolver{Queries: queries}})
}

func serve(t *testing.T, db *readmodeltest.Database, s settings) *testAPI {
	t.Helper()
	return serveDB(t, db, db.Counted, s)
}

func serveDB(t *testing.T, db *readmodeltest.Database, pool *sqlx.DB, s settings) *testAPI {
	t.Helper()
	out := &testenv.Log{}
	log := slog.New(slog.NewTextHandler(out, nil))
	// Versions are read through another connection, so that tests count only the statements of queries.
	watcher := projection.NewWatcher(readmodeltest.NewReader(t, db.DB).Versions, log)
	reader := readmodeltest.NewReader(t, pool)
	queries := query.New(reader, watcher, query.Settings{WaitTimeout: s.wait})

	watching, stopWatching := context.WithCancel(t.Context())
	streams, stopStreams := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { watcher.Run(watching) })
	server := httptest.NewUnstartedServer(graphql.NewHandler(streams, queries, executable(queries), log, s.Settings))
	connections := &countingListener{Listener: server.Listener}
	server.Listener = connections
	server.Start()
	t.Cleanup(func() {
		stopStreams()
		server.Close()
		stopWatching()
		running.Wait()
	})
	return &testAPI{url: server.URL, log: out, stopStreams: stopStreams, statements: db.Statements, connections: connections}
}

// countingListener counts the connections that the server has open.
type countingListener struct {
	net.Listener
	open atomic.Int64
}

func (l *countingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.open.Add(1)
	return &countedConn{Conn: conn, closed: sync.OnceFunc(func() { l.open.Add(-1) })}, nil
}

type countedConn struct {
	net.Conn
	closed func()
}

func (c *countedConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

// answer is a GraphQL answer.
type answer struct {
	status int
	Data   json.RawMessage `json:"data"`
	Errors []struct {
		Message    string         `json:"message"`
		Path       []any          `json:"path"`
		Extensions map[string]any `json:"extensions"`
	} `json:"errors"`
}

// code returns the code of the answer's only error; empty: no error.
func (a answer) code() string {
	if len(a.Errors) == 0 {
		return ""
	}
	code, _ := a.Errors[0].Extensions["code"].(string)
	if len(a.Errors) > 1 {
		return fmt.Sprintf("%s and %d more", code, len(a.Errors)-1)
	}
	return code
}

// into decodes the data of an answer without errors.
func (a answer) into(t *testing.T, data any) {
	t.Helper()
	if len(a.Errors) > 0 {
		t.Fatalf("errors: %+v", a.Errors)
	}
	if err := json.Unmarshal(a.Data, data); err != nil {
		t.Fatalf("%s: %v", a.Data, err)
	}
}

// asked are the headers and variables of a request.
type asked struct {
	tenant, tokens string
	variables      map[string]any
}

func (a *testAPI) ask(t *testing.T, with asked, document string) answer {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": with.variables})
	if err != nil {
		t.Fatal(err)
	}
	header := map[string]string{"Content-Type": "application/json"}
	if with.tenant != "" {
		header["X-Tenant-Code"] = with.tenant
	}
	if with.tokens != "" {
		header["Consistency-Token"] = with.tokens
	}
	return a.send(t, http.MethodPost, header, string(body))
}

func (a *testAPI) send(t *testing.T, method string, header map[string]string, body string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, a.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := answer{status: response.StatusCode}
	if err := json.Unmarshal(content, &got); err != nil {
		t.Fatalf("%d %s: %v", response.StatusCode, content, err)
	}
	return got
}

// ids returns the arguments that most queries take.
func ids(id thread.ID, user thread.UserID) string {
	return fmt.Sprintf(`threadId: "%s", userAccountId: "%s"`, id, user)
}
