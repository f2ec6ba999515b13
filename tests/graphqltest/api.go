// Package graphqltest runs the GraphQL endpoint for tests, and has the contract suite of its streaming transports:
//
//	func TestTransport(t *testing.T) { graphqltest.Suite(t, graphqltest.Transport{Subscribe: subscribe}) }
package graphqltest

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

// API is a running GraphQL endpoint on a read model.
type API struct {
	URL         string // of the endpoint
	Log         *testenv.Log
	StopStreams context.CancelFunc
	Statements  func() int64
	connections *countingListener
}

// Settings are the endpoint's settings that a test can change.
type Settings struct {
	graphql.Settings
	Wait time.Duration
	// Executable, unless nil, is used instead of [Executable].
	Executable func(*query.Queries) graphql.Executable
	// Around, unless nil, adds a transport to the endpoint.
	Around func(endpoint *graphql.Handler, log *slog.Logger) func(http.Handler) http.Handler
}

// Executable returns the schema with the core's resolvers. Fields of extras have none.
func Executable(queries *query.Queries) graphql.Executable {
	type extras struct{ generated.Resolvers }
	return generated.Executable(generated.Schema(), struct {
		graphql.Resolver
		extras
	}{Resolver: graphql.Resolver{Queries: queries}})
}

// Serve runs an endpoint on a read model until the test ends.
func Serve(t *testing.T, db *readmodeltest.Database, s Settings) *API {
	t.Helper()
	return ServeDB(t, db, db.Counted, s)
}

// ServeDB is Serve with another pool of connections.
func ServeDB(t *testing.T, db *readmodeltest.Database, pool *sqlx.DB, s Settings) *API {
	t.Helper()
	out := &testenv.Log{}
	log := slog.New(slog.NewTextHandler(out, nil))
	// Versions are read through another connection, so that tests count only the statements of queries.
	watcher := projection.NewWatcher(readmodeltest.NewReader(t, db.DB).Versions, log)
	reader := readmodeltest.NewReader(t, pool)
	queries := query.New(reader, watcher, query.Settings{WaitTimeout: s.Wait})

	watching, stopWatching := context.WithCancel(t.Context())
	streams, stopStreams := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { watcher.Run(watching) })
	if s.Executable == nil {
		s.Executable = Executable
	}
	endpoint := graphql.NewHandler(streams, queries, s.Executable(queries), log, s.Settings)
	handler := http.Handler(endpoint)
	if s.Around != nil {
		handler = s.Around(endpoint, log)(endpoint)
	}
	server := httptest.NewUnstartedServer(handler)
	connections := &countingListener{Listener: server.Listener}
	server.Listener = connections
	server.Start()
	t.Cleanup(func() {
		stopStreams()
		server.Close()
		stopWatching()
		running.Wait()
	})
	return &API{URL: server.URL, Log: out, StopStreams: stopStreams, Statements: db.Statements, connections: connections}
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

// Answer is a GraphQL answer.
type Answer struct {
	Status int             `json:"-"`
	Data   json.RawMessage `json:"data"`
	Errors []struct {
		Message    string         `json:"message"`
		Path       []any          `json:"path"`
		Extensions map[string]any `json:"extensions"`
	} `json:"errors"`
}

// Code returns the code of the answer's only error; empty: no error.
func (a Answer) Code() string {
	if len(a.Errors) == 0 {
		return ""
	}
	code, _ := a.Errors[0].Extensions["code"].(string)
	if len(a.Errors) > 1 {
		return fmt.Sprintf("%s and %d more", code, len(a.Errors)-1)
	}
	return code
}

// Into decodes the data of an Answer without errors.
func (a Answer) Into(t *testing.T, data any) {
	t.Helper()
	if len(a.Errors) > 0 {
		t.Fatalf("errors: %+v", a.Errors)
	}
	if err := json.Unmarshal(a.Data, data); err != nil {
		t.Fatalf("%s: %v", a.Data, err)
	}
}

// Asked are the headers and variables of a request.
type Asked struct {
	Tenant, Tokens string
	Variables      map[string]any
}

// Ask sends an operation by POST.
func (a *API) Ask(t *testing.T, with Asked, document string) Answer {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": document, "variables": with.Variables})
	if err != nil {
		t.Fatal(err)
	}
	header := map[string]string{"Content-Type": "application/json"}
	if with.Tenant != "" {
		header["X-Tenant-Code"] = with.Tenant
	}
	if with.Tokens != "" {
		header["Consistency-Token"] = with.Tokens
	}
	return a.Send(t, http.MethodPost, header, string(body))
}

// Send sends a request and decodes its answer.
func (a *API) Send(t *testing.T, method string, header map[string]string, body string) Answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, a.URL, strings.NewReader(body))
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
	got := Answer{Status: response.StatusCode}
	if err := json.Unmarshal(content, &got); err != nil {
		t.Fatalf("%d %s: %v", response.StatusCode, content, err)
	}
	return got
}

// IDs returns the arguments that most queries take.
func IDs(id thread.ID, user thread.UserID) string {
	return fmt.Sprintf(`threadId: "%s", userAccountId: "%s"`, id, user)
}

// WantNoConnections checks that the server has closed all its connections, except those that HTTP clients keep for
// reuse.
func WantNoConnections(t *testing.T, a *API) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	testenv.Eventually(t, Patience, func() error {
		if open := a.connections.open.Load(); open != 0 {
			return fmt.Errorf("%d connections are open", open)
		}
		return nil
	})
}
