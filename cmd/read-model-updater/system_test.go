package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"testing"

	"github.com/jmoiron/sqlx"

	"example.com/threads/cmd/internal/system"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/es/database"
	"example.com/threads/es/dynamodb"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/migration"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/tests/chattest"
	"example.com/threads/tests/kit"
	"example.com/threads/usecase/chat"
)

// childVar makes the test binary run the program, for tests that kill it.
const childVar = "READ_MODEL_UPDATER_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVar) != "" {
		main()
		return
	}
	testenv.Main(m)
}

// world is an event store and a read model on the real services, with a writer.
type world struct {
	env      map[string]string // the whole environment of the program
	gateway  *dynamodb.Gateway
	commands *chat.ThreadCommands
	db       *sqlx.DB
	user     thread.UserID
}

func newSystem(t *testing.T) *world {
	t.Helper()
	name := testenv.UniqueName(t)
	s := &world{
		env: map[string]string{
			"JOURNAL_TABLE": name + "_journal", "SNAPSHOT_TABLE": name + "_snapshot",
			"DATABASE_URL": testenv.MySQL(t), "UPDATER_ADDR": "127.0.0.1:0",
			"AWS_REGION": testenv.Region, "AWS_ACCESS_KEY_ID": testenv.AccessKeyID(t), "AWS_SECRET_ACCESS_KEY": testenv.SecretAccessKey,
			"AWS_ENDPOINT_URL_DYNAMODB": testenv.DynamoDB(t), "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": testenv.DynamoDB(t),
		},
		user: kit.NewID[ident.UserAccount](),
	}
	gateway, err := dynamodb.New(dynamodb.NewClient(testenv.DynamoDBConfig(t)), dynamodb.Settings{
		JournalTable: s.env["JOURNAL_TABLE"], SnapshotTable: s.env["SNAPSHOT_TABLE"],
	})
	if err != nil {
		t.Fatal(err)
	}
	s.gateway = gateway
	s.commands = es.NewService(eventjson.Threads(), gateway, es.Settings{Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { _ = s.commands.Close(context.WithoutCancel(t.Context())) })
	if s.db, err = database.Open(t.Context(), s.env["DATABASE_URL"], database.Settings{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.db.Close() })
	return s
}

// setUp creates the tables of both.
func (s *world) setUp(t *testing.T) *world {
	t.Helper()
	s.setUpTables(t)
	s.migrate(t)
	return s
}

func (s *world) setUpTables(t *testing.T) {
	t.Helper()
	client := dynamodb.NewClient(testenv.DynamoDBConfig(t))
	if _, _, err := dynamodb.SetUpTables(t.Context(), client, dynamodb.Tables(s.env["JOURNAL_TABLE"], s.env["SNAPSHOT_TABLE"])); err != nil {
		t.Fatal(err)
	}
}

func (s *world) migrate(t *testing.T) {
	t.Helper()
	if _, err := migration.Up(t.Context(), s.db, system.Schemas()...); err != nil {
		t.Fatal(err)
	}
}

// start runs the program in a process of its own.
func (s *world) start(t *testing.T) *process {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{ctx: t.Context(), cmd: exec.CommandContext(t.Context(), os.Args[0])}
	p.cmd.Env = []string{childVar + "=1"}
	for name, value := range s.env {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	p.cmd.Stdout, p.cmd.Stderr = writer, os.Stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close()
	t.Cleanup(func() { p.kill() })
	lines := json.NewDecoder(reader)
	for p.url == "" {
		var line struct{ Msg, URL string }
		if err := lines.Decode(&line); err != nil {
			t.Fatalf("the program ended before it listened: %v", err)
		}
		p.url = line.URL
	}
	go func() { _, _ = io.Copy(io.Discard, reader); _ = reader.Close() }()
	return p
}

// process is a running read-model-updater.
type process struct {
	ctx context.Context // of the test
	cmd *exec.Cmd
	url string
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// health is the answer of /health/ready.
type health struct {
	Checks           map[string]string
	Reason           string
	Warnings         []string
	BehindSeconds    float64 `json:"behind_seconds"`
	BehindRecords    int     `json:"behind_records"`
	BehindAtLeast    bool    `json:"behind_at_least"`
	Active           bool
	ParkedAggregates *int `json:"parked_aggregates"`
}

// health returns the answer of /health/ready.
func (p *process) health() (status int, found health, err error) {
	status, body, err := p.get("/health/ready")
	if err != nil {
		return 0, health{}, err
	}
	err = json.Unmarshal(body, &found)
	return status, found, err
}

func (p *process) get(path string) (status int, body []byte, err error) {
	request, err := http.NewRequestWithContext(p.ctx, http.MethodGet, p.url+path, nil)
	if err != nil {
		return 0, nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, body, err
}

// caughtUp returns nil when the program reports no lag.
func (p *process) caughtUp() error {
	status, found, err := p.health()
	if err == nil && (status != http.StatusOK || found.BehindSeconds != 0 || found.BehindRecords != 0 || found.BehindAtLeast) {
		err = fmt.Errorf("%d %+v", status, found)
	}
	return err
}

func (s *world) create(t *testing.T) es.AggregateID {
	t.Helper()
	name, err := writing.ParseName("test")
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.commands.Handle(t.Context(), chattest.Request(es.Caller{Executor: s.user.String()}, thread.ID{}, thread.Create{Executor: s.user, Name: name}))
	if err != nil {
		t.Fatal(err)
	}
	return result.Key
}

func (s *world) post(ctx context.Context, key es.AggregateID, words string) (version uint64, err error) {
	text, err := thread.ParseText(words)
	if err != nil {
		return 0, err
	}
	result, err := s.commands.Handle(ctx, chattest.Request(es.Caller{Executor: s.user.String()}, chat.ThreadID(key), thread.PostMessage{Executor: s.user, Text: text}))
	return result.Version, err
}

// isAt checks that the thread's row has the version and a message for each post.
func (s *world) isAt(ctx context.Context, key es.AggregateID, version uint64) error {
	var found struct{ Version, Messages, Distinct uint64 }
	err := s.db.GetContext(ctx, &found, `SELECT
		COALESCE((SELECT version FROM threads WHERE id = ?), 0) AS version,
		(SELECT COUNT(*) FROM messages WHERE thread_id = ?) AS messages,
		(SELECT COUNT(DISTINCT text) FROM messages WHERE thread_id = ?) AS `+"`distinct`", key.ID, key.ID, key.ID)
	if err == nil && (found.Version != version || found.Messages != version-1 || found.Distinct != version-1) {
		err = fmt.Errorf("thread %s: %+v, want version %d", chat.ThreadID(key), found, version)
	}
	return err
}
