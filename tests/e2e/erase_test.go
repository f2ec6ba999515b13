package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/programs"
	"example.com/threads/tests/wordsearch"
)

// erasable are the setups with ERASURE=on and more variables: the system, and a search of its disks for words.
var erasable = map[string]func(*testing.T, ...string) (*system, func(words ...string) []string){
	"three programs on DynamoDB and MySQL": func(t *testing.T, more ...string) (*system, func(words ...string) []string) {
		keys := testenv.UniqueName(t)
		env := slices.Concat(dynamoDB(t), erasureOn("KEY_TABLE="+keys), more)
		runOnce(t, "dynamodb-setup", env)
		return threePrograms(t, env), func(words ...string) []string {
			search := wordsearch.New(t)
			search.DynamoDB(t.Context(), dynamodb.NewFromConfig(testenv.DynamoDBConfig(t)), variable(env, "JOURNAL_TABLE"), variable(env, "SNAPSHOT_TABLE"), keys)
			searchSQL(t, search, variable(env, "DATABASE_URL"))
			return search.Find(words...)
		}
	},
	"three programs on one MySQL": func(t *testing.T, more ...string) (*system, func(words ...string) []string) {
		env := slices.Concat(oneMySQL(t), erasureOn(), more)
		return threePrograms(t, env), func(words ...string) []string {
			search := wordsearch.New(t)
			searchSQL(t, search, variable(env, "DATABASE_URL"))
			return search.Find(words...)
		}
	},
}

func erasureOn(more ...string) []string {
	return append(more, "ERASURE=on", "ERASURE_KEY="+base64.StdEncoding.EncodeToString([]byte("a master key of 32 bytes for us!")))
}

func searchSQL(t *testing.T, search *wordsearch.Search, url string) {
	t.Helper()
	db, err := database.Open(t.Context(), url, database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	search.SQL(t.Context(), db)
}

// A person must be erased in every program, even if the updater is killed meanwhile. Plain texts must not be in any
// table, before or after the erasure. The longest texts and names must fit when sealed.
func TestAPersonIsForgottenEverywhere(t *testing.T) {
	startsPrograms(t)
	for name, start := range erasable {
		t.Run(name, func(t *testing.T) {
			s, find := start(t)
			testAPersonIsForgotten(t, s, find)
		})
	}
}

func testAPersonIsForgotten(t *testing.T, s *system, find func(words ...string) []string) {
	const word = "Rhubarbwords"
	longName, longText := word+strings.Repeat("🌱", 64-len(word)), word+strings.Repeat("🌱", 4000-len(word))
	ada, bob := s.person("acme"), s.person("acme")
	ada.command(t, "/accounts/register", fields{"name": longName})
	thread := ada.command(t, "/threads/create", fields{"name": longName}).text("thread_id")
	ada.command(t, "/threads/add_member", fields{"thread_id": thread, "user_account_id": bob.id, "role": "Member"})
	for range 12 { // enough events for snapshots
		ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": longText})
	}
	last := bob.command(t, "/threads/post_message", fields{"thread_id": thread, "text": "bob's"})
	view := bob.view(t, thread, token(last))
	if texts := bob.textsOf(t, thread); view.Name != longName || len(texts) != 13 || texts[0] != longText || texts[12] != "bob's" {
		t.Errorf("before the erasure there are %q and %.40q", view.Name, texts)
	}
	if where := find(word); len(where) > 0 {
		t.Errorf("before the erasure there is %v", where)
	}
	if where := find(thread, "ThreadMessagePosted", "text_digest"); len(where) < 3 {
		t.Errorf("the search does not find plain words: it found %v", where)
	}

	s.projector.Kill(t)
	ada.command(t, "/accounts/erase", nil)
	s.projector.Start(t)
	testenv.Eventually(t, leavesWithin, func() error {
		view, texts := bob.view(t, thread), bob.textsOf(t, thread)
		if view.Name != "[erased]" || slices.ContainsFunc(texts[:12], func(text string) bool { return text != "[erased]" }) || texts[12] != "bob's" {
			return fmt.Errorf("after the erasure there are %q and %.40q", view.Name, texts)
		}
		return nil
	})
	bob.sees(t, thread, bob.id+" ADMIN") // the erased account has left
	if where := find(word); len(where) > 0 {
		t.Errorf("after the erasure there is %v", where)
	}
	// An operator rebuilds the rows from the journal alone.
	s.operate(t, allIsWell, "rows", "rebuild")
	if texts := bob.textsOf(t, thread); len(texts) != 13 || texts[0] != "[erased]" {
		t.Errorf("after a rebuild there are %.40q", texts)
	}
	shown := s.operate(t, allIsWell, "journal", "show", "--tenant", "acme", "thread-"+thread)
	if strings.Contains(shown, word) || strings.Count(shown, "[erased]") != 13 || !strings.Contains(shown, "bob's") {
		t.Errorf("journal show prints:\n%.2000s", shown)
	}
	for _, p := range []*programs.Program{s.writer, s.projector} {
		if text, err := os.ReadFile(p.Log); err != nil || strings.Contains(string(text), word) {
			t.Errorf("the log %s contains the words, or can't be read: %v", filepath.Base(p.Log), err)
		}
	}
}

// textsOf returns the texts of a thread's messages.
func (p person) textsOf(t *testing.T, thread string) (texts []string) {
	t.Helper()
	for _, message := range p.messagesOf(t, thread) {
		texts = append(texts, message.Text)
	}
	return texts
}
