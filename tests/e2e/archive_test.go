package e2e

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/es/archive/archivetest"
	"example.com/threads/es/dynamodb"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/eventstore"
	"example.com/threads/interfaceadaptor/eventjson"
	"example.com/threads/tests/chattest"
	"example.com/threads/usecase/chat"
)

// gateway opens the system's event store.
func (s *system) gateway(t *testing.T) es.Store {
	t.Helper()
	settings, err := config.Read(func(name string) string { return variable(s.store, name) }, eventstore.ReadSettings)
	if err != nil {
		t.Fatal(err)
	}
	if settings.Kind == eventstore.DynamoDB {
		gateway, err := dynamodb.New(dynamodb.NewClient(testenv.DynamoDBConfig(t)),
			dynamodb.Settings{JournalTable: settings.JournalTable, SnapshotTable: settings.SnapshotTable})
		if err != nil {
			t.Fatal(err)
		}
		return gateway
	}
	store, err := eventstore.Open(t.Context(), settings, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close(t.Context()) })
	return store.Gateway
}

// old writes a thread of 2023: its creation, and posts. It returns its id.
func (s *system) old(t *testing.T, tenant string, executor string, posts int) string {
	t.Helper()
	now := time.Date(2023, 2, 3, 4, 5, 6, 0, time.UTC)
	commands := es.NewService(eventjson.Threads(), s.gateway(t), es.Settings{SnapshotEvery: 1 << 40, Clock: func() time.Time {
		now = now.Add(time.Hour)
		return now
	}})
	user, err := ident.Parse[ident.UserAccount](executor)
	if err != nil {
		t.Fatal(err)
	}
	handle := func(id thread.ID, command thread.Command) thread.ID {
		result, err := commands.Handle(t.Context(), chattest.Request(es.Caller{Tenant: es.Tenant(tenant), Executor: executor}, id, command))
		if err != nil {
			t.Fatal(err)
		}
		return chat.ThreadID(result.Key)
	}
	id := handle(thread.ID{}, thread.Create{Executor: user, Name: writing.RecordedName("years ago")})
	for i := range posts {
		handle(id, thread.PostMessage{Executor: user, Text: thread.RecordedText(fmt.Sprint("cup ", i))})
	}
	return id.String()
}

// What was archived and removed from the journal is there for commands, history, rows, checks and rebuilds.
func TestOldEventsAreArchived(t *testing.T) {
	startsPrograms(t)
	archived := func(t *testing.T) string { return "ARCHIVE_DIR=" + t.TempDir() }
	for name, start := range map[string]func(*testing.T) *system{
		"three programs on DynamoDB and MySQL": func(t *testing.T) *system { return threePrograms(t, append(dynamoDB(t), archived(t))) },
		"three programs on one MySQL":          func(t *testing.T) *system { return threePrograms(t, append(oneMySQL(t), archived(t))) },
		"one process on SQLite": func(t *testing.T) *system {
			folder := archived(t)
			s := oneProcess(t, folder)
			s.store = append(s.store, folder)
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testArchive(t, start(t))
		})
	}
}

func testArchive(t *testing.T, s *system) {
	const posts = 130
	ada := s.person("acme")
	thread, silent := s.old(t, "acme", ada.id, posts), s.old(t, "acme", ada.id, 5)
	young := ada.command(t, "/threads/create", fields{"name": "today"}).text("thread_id")
	ada.command(t, "/threads/post_message", fields{"thread_id": young, "text": "hello"})
	ada.view(t, thread, fmt.Sprint(thread, ":", posts+1))

	s.operate(t, 2, "journal", "archive", "--before", "yesterday")
	if _, problem, code := s.tryOperate(t, "journal", "archive", "thread-"+ulid.Make().String(), "--before", "2024-01-01"); code != 1 || !strings.Contains(problem, "no such aggregate") {
		t.Errorf("an aggregate that does not exist: exit code %d, %s", code, problem)
	}
	s.operate(t, allIsWell, "journal", "archive", "--before", "2023-02-04")
	readme, err := os.ReadFile("../../extras/archive/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var told string // by its scripts, as printed
	for _, block := range regexp.MustCompile("(?s) +```sh\n(.*?)```").FindAllStringSubmatch(string(readme), -1) {
		told += s.script(t, block[1], "PATH="+binaries+":"+os.Getenv("PATH"))
	}
	if !strings.Contains(told, fmt.Sprintf("removed: %d\n", posts+5)) || !strings.Contains(told, "failed: 0\n") {
		t.Errorf("it told:\n%s", told)
	}
	left := 0
	for _, err := range s.gateway(t).StoredEntries(t.Context(), es.AggregateID{Tenant: "acme", Type: "thread", ID: thread}) {
		if left++; err != nil {
			t.Fatal(err)
		}
	}
	if left != 1 {
		t.Errorf("the journal has %d events of the thread, want the last", left)
	}
	s.operate(t, allIsWell, "journal", "check")
	s.operate(t, allIsWell, "rows", "verify")

	posted := ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": "after ten years"})
	if posted.version() != posts+2 {
		t.Errorf("the command made version %d, want %d", posted.version(), posts+2)
	}
	var was threadAt
	ada.ask(t, &was, atQuery, fields{"t": thread, "u": ada.id, "v": 3, "first": 50}, token(posted))
	if at := was.ThreadAt; at.Name != "years ago" || len(at.Messages) != 2 || at.Messages[1].Text != "cup 1" {
		t.Errorf("version 3 was %+v", at)
	}
	s.operate(t, allIsWell, "rows", "rebuild")
	s.operate(t, allIsWell, "rows", "verify")
	if view := ada.view(t, thread); view.Version != posts+2 || view.Name != "years ago" {
		t.Errorf("after a rebuild: version %d of %q", view.Version, view.Name)
	}

	export := t.TempDir()
	if variable(s.store, "EVENT_STORE") != "" {
		if _, problem, code := s.tryOperate(t, "rows", "rebuild", "--export", export); code != 1 || !strings.Contains(problem, "DynamoDB") {
			t.Errorf("a rebuild from an export of another store: exit code %d, %s", code, problem)
		}
		s.withoutArchive(t, ada, silent)
		return
	}
	archivetest.Export(t, dynamodb.NewClient(testenv.DynamoDBConfig(t)), variable(s.store, "JOURNAL_TABLE"), export, 2)
	newest := ada.command(t, "/threads/post_message", fields{"thread_id": young, "text": "since the export"})
	ada.view(t, young, token(newest))
	sqlSpoiler{variable(s.store, "DATABASE_URL")}.run(t, "UPDATE messages SET text = 'spoilt'")
	s.operate(t, isWrong, "rows", "verify")
	s.operate(t, allIsWell, "rows", "rebuild", "--export", export)
	s.operate(t, allIsWell, "rows", "verify")
	if err := os.Remove(filepath.Join(export, "manifest-files.json")); err != nil {
		t.Fatal(err)
	}
	s.operate(t, 1, "rows", "rebuild", "--export", export)
	s.operate(t, allIsWell, "rows", "rebuild", "--cancel")
	s.withoutArchive(t, ada, silent)
}

// withoutArchive starts the programs without the archive: that events are missing is told, and nothing is lost.
func (s *system) withoutArchive(t *testing.T, ada person, thread string) {
	t.Helper()
	folder := variable(s.store, "ARCHIVE_DIR")
	s.writer.Stop(t)
	s.writer.Set("ARCHIVE_DIR=")
	s.writer.Start(t)
	if a := ada.attempt(t, "/threads/rename", fields{"thread_id": thread, "name": "eleven"}, nil); a.status != 500 || a.text("code") != "store_inconsistent" {
		t.Errorf("without the archive: %d %s", a.status, a.raw)
	}
	s.writer.Stop(t)
	s.writer.Set("ARCHIVE_DIR=" + folder)
	s.writer.Start(t)
	ada.command(t, "/threads/rename", fields{"thread_id": thread, "name": "eleven"})
	s.operate(t, allIsWell, "journal", "check")
}
