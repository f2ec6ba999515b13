package tutorial_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/threads/tools/dev/internal/treecopy"
)

const root = "../../.."

const (
	field, command, aggregate = "1-a-field.md", "2-a-command.md", "3-an-aggregate.md"
	written                   = 20 // files that the first command of lesson three writes or changes
)

// A lesson is a page with blocks that are a patch, one that tries the result, and the output of git diff --stat.
var lessons = map[string]struct{ mostFiles int }{field: {8}, command: {10}, aggregate: {written}}

var (
	blocks = regexp.MustCompile("(?s)```diff\n(.*?\n)```")
	target = regexp.MustCompile(`(?m)^\+\+\+ b/(.*)$`)
	stat   = regexp.MustCompile(`(?m)^ (\S+) +\| +(\d+)`)
	// beside are tests and generated files, which the stat in a lesson leaves out.
	beside = regexp.MustCompile(`_test\.go$|^domain/thread/threadtest/|^tests/|/testdata/|/generated/|^extras/page/(app|check)\.js$|` +
		`^extras/page/src/(answers|queries|requests)\.ts$`)
	tries = regexp.MustCompile("(?s)```sh\n(make run.*?\n)```\n+It prints:\n+```\n(.*?\n)```")
)

// A lesson must say which files it changes. Applied to a copy of the tree, it must make a system that passes all checks
// and all tests that need no service, and that answers as the lesson says. Afterwards the rows must be what the domain
// says, and no event may be a dead letter.
//
// Without RELEASE_CHECK, it is checked in the module that the lessons change, and tested in the parts. The modules that
// it is built on are those of the tree, which make check looks at. Lesson three then follows lesson two in the same
// copy, so that all is built once.
func TestTheLessonsAreTrue(t *testing.T) {
	proof := []string{"make check test-short"}
	if os.Getenv("RELEASE_CHECK") == "" {
		proof = []string{"make check-format check-lint check-generated check-layers MODULES=.", "go test -short ./domain/... ./usecase/... ./interfaceadaptor/... " +
			"./cmd/write-api/... ./cmd/read-api/... ./cmd/read-model-updater/... ./cmd/standalone ./extras/history ./extras/publishing"}
		t.Setenv("SCHEDULES", "1") // those of a consumer do not depend on the lessons
	}
	for page, lesson := range lessons {
		t.Run(page, func(t *testing.T) {
			if os.Getenv("RELEASE_CHECK") == "" && page != command {
				t.Skip("left out: it takes minutes; make release-check runs it")
			}
			folder := treecopy.Of(t, root)
			text, changes := changesOf(t, page, folder)
			if page == aggregate {
				newAggregate(t, folder)
			} else if output, err := apply(t, folder, changes); err != nil {
				t.Fatalf("%v: %s", err, output)
			}
			if files := changedFiles(t, folder, text); files < 7 || files > lesson.mostFiles {
				t.Errorf("it changes %d files of the programs, not 7 to %d", files, lesson.mostFiles)
			}
			if page == aggregate {
				treecopy.Do(t, folder, "make", "new-aggregate", "NAME=voucher") // without a process manager
			}
			third := page == command && os.Getenv("RELEASE_CHECK") == ""
			if third {
				newAggregate(t, folder)
			}
			treecopy.WithoutServices(t)
			for _, command := range proof {
				words := strings.Fields(command)
				treecopy.Do(t, folder, words[0], words[1:]...)
			}
			if page == command && os.Getenv("RELEASE_CHECK") != "" {
				said := treecopy.Do(t, folder, "go", "-C", "tools/dev", "test", "-count=1", "-v", "-run", "TestAnAdminPinsAMessage", "./browser")
				if !strings.Contains(said, "--- PASS: TestAnAdminPinsAMessage") {
					t.Errorf("the page's test says:\n%s", said)
				}
			}
			try(t, folder, text)
			if third {
				text, _ := changesOf(t, aggregate, folder)
				try(t, folder, text)
			}
		})
	}
}

// changedFiles returns how many files of the programs a lesson has changed. Its stat must be what git says.
func changedFiles(t *testing.T, folder, text string) (files int) {
	t.Helper()
	said := map[string]string{}
	for _, line := range stat.FindAllStringSubmatch(text, -1) {
		said[line[1]] = line[2]
	}
	treecopy.Do(t, folder, "git", "add", "-AN")
	for _, line := range stat.FindAllStringSubmatch(treecopy.Do(t, folder, "git", "diff", "--stat=200"), -1) {
		path, lines := line[1], line[2]
		if beside.MatchString(path) {
			continue
		}
		if !strings.HasPrefix(path, "docs/") {
			files++
		}
		if said[path] != lines {
			t.Errorf("it changes %s lines of %s, and says %q", lines, path, said[path])
		}
		delete(said, path)
	}
	if len(said) > 0 {
		t.Errorf("it says that it changes %v", said)
	}
	return files
}

// newAggregate writes an aggregate as lesson three does. Its tests must pass, as far as those of
// [TestTheLessonsAreTrue] do not run them.
func newAggregate(t *testing.T, folder string) {
	t.Helper()
	said := treecopy.Do(t, folder, "make", "new-aggregate", "NAME=order", "PROCESS=yes")
	for _, line := range []string{"written: domain/order/order.go", "written: usecase/chat/replaceorders.go", "changed: cmd/write-api/commands/commands.go"} {
		if !strings.Contains(said, line+"\n") {
			t.Errorf("%q is not said in:\n%s", line, said)
		}
	}
	if marked := treecopy.Do(t, folder, "sh", "-c", "grep -rnE '(//|#) process( [{}])?$' domain usecase interfaceadaptor cmd docs || true"); marked != "" {
		t.Errorf("marks are left:\n%s", marked)
	}
	quoted(t, folder)
	treecopy.Do(t, folder, "extras/page/src/node_modules/.bin/tsc", "-p", "extras/page/src")
	treecopy.Do(t, folder, "go", "test", "-run", "Order", "./interfaceadaptor/readmodel/chatrows")
	treecopy.WithoutServices(t)
	// These send commands to the running program as several actors, and query the results.
	treecopy.Do(t, folder, "go", "test", "-run", "Order|WhoMay", "./cmd/standalone")
}

// quoted checks that the code in the lesson about the scaffold is what it has written.
func quoted(t *testing.T, folder string) {
	t.Helper()
	inOneLine := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	code := inOneLine(treecopy.Do(t, folder, "sh", "-c", "cat $(find . -name '*order*.go')"))
	lesson, err := os.ReadFile(filepath.Join(root, "docs/tutorial/3-an-aggregate.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(lesson), -1)
	for _, block := range blocks {
		for line := range strings.SplitSeq(strings.TrimSpace(block[1]), "\n") {
			if !strings.Contains(code, inOneLine(line)) {
				t.Errorf("the lesson says what the scaffold does not write: %s", line)
			}
		}
	}
	if len(blocks) < 5 {
		t.Errorf("the lesson has %d blocks of code", len(blocks))
	}
}

// try runs the lesson's commands on the changed system, and checks what they leave behind.
func try(t *testing.T, folder, text string) {
	t.Helper()
	block := tries.FindStringSubmatch(text)
	if block == nil {
		t.Fatal("the lesson has no block that begins with make run, and says what it prints")
	}
	treecopy.Do(t, folder, "go", "build", "-o", ".", "./cmd/standalone", "./cmd/threadctl")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const script = `
		./standalone >standalone.log 2>&1 &
		trap 'kill $! && wait $!' EXIT
		until curl -sf $QUERIES/health/ready >ready; do sleep 0.1; done
	`
	write, read, updater, page := treecopy.FreeAddress(t), treecopy.FreeAddress(t), treecopy.FreeAddress(t), treecopy.FreeAddress(t)
	commands := exec.CommandContext(ctx, "bash", "-euc", script+strings.NewReplacer(
		"localhost:28080", write, "localhost:28082", read, "make run", ": make run",
	).Replace(block[1]))
	commands.Dir = folder
	commands.Env = append(os.Environ(), "QUERIES="+read, "WRITE_API_ADDR="+write, "READ_API_ADDR="+read, "UPDATER_ADDR="+updater, "WEB_ADDR="+page)
	printed, err := commands.Output()
	if got := strings.TrimSpace(anyID.ReplaceAllString(string(printed), "01...")); err != nil || got != strings.TrimSpace(block[2]) {
		log, _ := os.ReadFile(filepath.Join(folder, "standalone.log"))
		t.Fatalf("%v: it prints\n%s instead of\n%s\n%s", err, got, block[2], log)
	}
	t.Setenv("EVENT_STORE", "sqlite")
	t.Setenv("EVENT_STORE_URL", "sqlite:data/events.db")
	t.Setenv("DATABASE_URL", "sqlite:data/readmodel.db")
	treecopy.Do(t, folder, "./threadctl", "journal", "check")
	treecopy.Do(t, folder, "./threadctl", "rows", "verify")
	treecopy.Do(t, folder, "./threadctl", "dead-letters", "list")
}

var anyID = regexp.MustCompile(`01[0-9A-Z]{24}`)

// An omission leaves out a part of a lesson.
type omission struct {
	lesson, place, line string // the changes of the place that have the line
	heard               string // the command that must fail
}

func (o omission) leavesOut(lesson, change string) bool {
	return o.lesson == lesson && strings.HasPrefix(target.FindStringSubmatch(change)[1], o.place) && strings.Contains(change, o.line)
}

// omissions are the places of the first two lessons. Whoever forgets one must hear of it.
var omissions = []omission{
	{field, "domain/thread/lifecycle.go", "+	Urgent   bool", compiler},
	{field, "domain/thread/lifecycle.go", "+	Urgent  bool", compiler},
	{field, "domain/thread/lifecycle.go", "Urgent: c.Urgent", "go test -run TestDecide ./domain/thread"},
	{field, "interfaceadaptor/rest/operations_test.go", "", "go test -run TestTheContentOfRequestsStaysWhatItIs ./interfaceadaptor/rest"},
	{field, "domain/thread/threadtest/history.go", "", "go test -run TestEverythingThatMayHappenGetsIntoTheRows ./usecase/chat"},
	{field, "interfaceadaptor/eventjson/threads.go", "", "go test -run TestEventsOfToday ./interfaceadaptor/eventjson"},
	{field, "interfaceadaptor/eventjson/golden_test.go", "", "go test -run TestEventsOfToday ./interfaceadaptor/eventjson"},
	{field, "docs/asyncapi.yaml", "", "go test -run TestPublishedEventsAreAsDocumented ./extras/publishing"},
	{field, "interfaceadaptor/rest/threads.go", "json:\"urgent", generate},
	{field, "interfaceadaptor/rest/threads.go", "Urgent: b.Urgent", "go test -run Story ./cmd/standalone"},
	{field, "interfaceadaptor/rest/openapi_test.go", "", "go test -run TestTheDocumentCoversTheContract ./interfaceadaptor/rest"},
	{field, "usecase/chat/threads.go", "", "go test -run TestEverythingThatMayHappenGetsIntoTheRows ./usecase/chat"},
	{field, "usecase/query/threads.go", "", generate},
	{field, "rdb-migration/readmodel/mysql", "", "go test -run TestEachMigrationIsThereForEachDatabase ./tests/architecture"},
	{field, "rdb-migration/readmodel/sqlite", "", "go test -run TestRowsAreWhatTheFoldSays/SQLite ./interfaceadaptor/readmodel/chatrows"},
	{field, "interfaceadaptor/graphql/schema.graphqls", "", "go test -run TestEveryColumnIsInTheSchema ./interfaceadaptor/graphql"},
	{field, generating, "", "make check-generated"},

	{command, "domain/thread/posting.go", "type PinMessage struct", compiler},
	{command, "domain/thread/posting.go", "(PinMessage) name()", compiler},
	{command, "domain/thread/posting.go", "type MessagePinned struct", compiler},
	{command, "domain/thread/posting.go", "pinned   MessageID", compiler},
	{command, "domain/thread/posting.go", "Pinned   MessageID", compiler},
	{command, "domain/thread/posting.go", "p.pinned}", compiler},
	{command, "domain/thread/posting.go", "p.Pinned}", compiler},
	{command, "domain/thread/posting.go", "ErrAlreadyPinned   =", compiler},
	{command, "domain/thread/posting.go", "(c PinMessage) decide", compiler},
	{command, "domain/thread/posting.go", "t.pinned == e.Message", generate},
	{command, "domain/thread/decide_test.go", "", "go test -run TestDecide ./domain/thread"},
	{command, "domain/thread/threadtest/history.go", "", "go test -run TestNothingIsForgotten ./domain/thread"},
	{command, "interfaceadaptor/eventjson/threads.go", "type wirePinned", compiler},
	{command, "interfaceadaptor/eventjson/threads.go", "Pinned   *messageRef", compiler},
	{command, "interfaceadaptor/eventjson/threads.go", "func optional", compiler},
	{command, "interfaceadaptor/eventjson/threads.go", "m.Messages, m.Pinned", "go test -run TestEveryFieldOfTheStateIsInItsSnapshot ./interfaceadaptor/eventjson"},
	{command, "interfaceadaptor/eventjson/threads.go", "ThreadMessagePinned", "go test -run TestEveryEventHasItsJSON ./interfaceadaptor/eventjson"},
	{command, "interfaceadaptor/eventjson/threads.go", "Pinned: optional", "go test -run TestEveryFieldOfTheStateIsInItsSnapshot ./interfaceadaptor/eventjson"},
	{command, "interfaceadaptor/eventjson/golden_test.go", "", "go test -run TestEveryEventHasItsJSON ./interfaceadaptor/eventjson"},
	{command, "docs/asyncapi.yaml", "", "go test -run TestPublishedEventsAreAsDocumented ./extras/publishing"},
	{command, "usecase/chat/threads.go", "AnswerMessage", "make check-lint"},
	{command, "usecase/chat/threads.go", "event.Instead", "go test -run TestEveryEventFindsItsRows ./usecase/chat"},
	{command, "usecase/chat/threads.go", "m.Pinned = true", "go test -run TestEverythingThatMayHappenGetsIntoTheRows ./usecase/chat"},
	{command, "usecase/chat/rows_test.go", "", "go test -run TestRowsSayWhatTheDomainSays ./usecase/chat"},
	{command, "usecase/query/threads.go", "", generate},
	{command, "interfaceadaptor/rest/openapi_test.go", "", "go test -run TestTheDocumentCoversTheContract ./interfaceadaptor/rest"},
	{command, "rdb-migration/readmodel/mysql", "", "go test -run TestEachMigrationIsThereForEachDatabase ./tests/architecture"},
	{command, "rdb-migration/readmodel/sqlite", "", "go test -run TestEachMigrationIsThereForEachDatabase ./tests/architecture"},
	{command, "interfaceadaptor/rest/threads.go", "type pinMessage struct", compiler},
	{command, "interfaceadaptor/rest/threads.go", "Path: \"/threads/pin_message\"", "go test -run TestTheDocumentCoversTheContract ./interfaceadaptor/rest"},
	{command, "interfaceadaptor/rest/operations_test.go", "", "go test -run TestTheContentOfRequestsStaysWhatItIs ./interfaceadaptor/rest"},
	{command, "tests/clients/commands.ts", "", "go test -run TestTheClientCallsEveryOperation ./tests/clients"},
	{command, "cmd/standalone/access_test.go", "", "go test -run TestWhoMayDoWhat ./cmd/standalone"},
	{command, "interfaceadaptor/readmodel/chatrows/leaveonclose.go", "", "make check-lint"},
	{command, "interfaceadaptor/graphql/schema.graphqls", "", generate},
	{command, "extras/history/history_test.go", "", "make check-lint"},
	{command, "extras/page/src/chat/message.tsx", "", "go test -C tools/dev -run TestAnAdminPinsAMessage ./browser"},
}

// proofs are the tests that a lesson adds to try itself; nothing can say that they are missing.
var proofs = []string{
	field + " domain/thread/decide_test.go", field + " cmd/standalone/urgent_test.go",
	command + " tools/dev/browser/pin_test.go", command + " cmd/standalone/pin_test.go",
}

// Each place that a lesson changes has a row in the table of omissions.
func TestEachPlaceOfALessonHasAnOmission(t *testing.T) {
	for _, lesson := range []string{field, command} {
		_, changes := changesOf(t, lesson, root)
		for _, change := range changes {
			place := target.FindStringSubmatch(change)[1]
			listed := slices.ContainsFunc(omissions, func(o omission) bool { return o.leavesOut(lesson, change) })
			if !listed && !slices.Contains(proofs, lesson+" "+place) {
				t.Errorf("nothing says what is heard when this is left out of %s:\n%s", lesson, change)
			}
		}
	}
}

// Whoever forgets a place of a lesson must hear of it from the compiler, the linter, or the named test.
func TestNoOmissionPassesInSilence(t *testing.T) {
	if os.Getenv("RELEASE_CHECK") == "" {
		t.Skip("left out: it takes minutes; make release-check runs it")
	}
	for _, omission := range omissions {
		t.Run(omission.lesson+" "+omission.place+" "+omission.line, func(t *testing.T) {
			folder := treecopy.Of(t, root)
			_, all := changesOf(t, omission.lesson, folder)
			rest := slices.DeleteFunc(slices.Clone(all), func(change string) bool {
				return omission.leavesOut(omission.lesson, change)
			})
			if len(rest) == len(all) && omission.place != generating {
				t.Fatal("the lesson has no such place")
			}
			if omission.heard == compiler {
				patch(t, folder, rest)
				expectHeard(t, folder, compiler)
				return
			}
			output, err := apply(t, folder, rest)
			switch {
			case omission.place == generating:
				treecopy.Do(t, folder, "git", "checkout", "extras/page/src/requests.ts")
			case omission.heard == generate:
				if err == nil || !place.Match(output) {
					t.Errorf("%s says: %s", generate, output)
				}
				return
			case err != nil:
				t.Fatalf("generating code: %v: %s", err, output)
			}
			expectHeard(t, folder, omission.heard)
		})
	}
}

// So must whoever leaves out a part of what lesson three's command has written or changed.
func TestNoOmissionOfAnAggregatePassesInSilence(t *testing.T) {
	if os.Getenv("RELEASE_CHECK") == "" {
		t.Skip("left out: it takes minutes; make release-check runs it")
	}
	folder := treecopy.Of(t, root)
	treecopy.Do(t, folder, "make", "new-aggregate", "NAME=order", "PROCESS=yes")
	treecopy.Do(t, folder, "git", "add", "-A")
	treecopy.WithoutServices(t)
	for _, omission := range []struct {
		place, part string // what is left out, as a regular expression; empty: the file
		heard       string // the command that must fail
	}{
		{"domain/order/order.go", `s\.Priority, s\.Due = .*`, "go test -run TestRules ./domain/order"},
		{"domain/order/order.go", `case Closed:\n\t\ts\.Closed = true`, "go test -run TestRules ./domain/order"},
		{"domain/order/order_test.go", `.*order\.Plan\{.*`, "go test -run TestNothingIsForgotten ./domain/order"},
		{"interfaceadaptor/eventjson/orders.go", `es\.Plain\[order.Event, order.Closed\].*`, "go test -run TestOrderEvents ./interfaceadaptor/eventjson"},
		{"interfaceadaptor/eventjson/orders.go", `Closed: state\.Closed, `, "go test -run TestOrderSnapshots ./interfaceadaptor/eventjson"},
		{"interfaceadaptor/eventjson/orders_test.go", `order\.Planned.*`, "go test -run TestOrderEvents ./interfaceadaptor/eventjson"},
		{"interfaceadaptor/eventjson/testdata/order/OrderPlanned.json", "", "go test -run TestOrderEvents ./interfaceadaptor/eventjson"},
		{"interfaceadaptor/eventjson/eventjson.go", `Orders\(\),`, everywhere},
		{"cmd/write-api/commands/commands.go", `\t\t\torderService,`, everywhere},
		{"cmd/write-api/commands/commands.go", `rest\.Orders\(orderService\),`, "go test -run TestWhoMayDoWhat ./cmd/standalone"},
		{"interfaceadaptor/readmodel/chatrows/chatrows.go", `rowstore\.OneRow\(Orders.*`, everywhere},
		{"interfaceadaptor/readmodel/chatrows/chatrows.go", `Orders\.Name,`, "go test -run TestAllTablesOfRowsAreInASet ./interfaceadaptor/readmodel/chatrows"},
		{"usecase/query/queries.go", `(?s)\{Type: order\.AggregateType.*?\n\t\t\}\},`, everywhere},
		{"extras/page/src/main.tsx", `.*orders.*`, everywhere},
		{"docs/asyncapi.yaml", `.*OrderPlanned.*`, "go test -run TestPublishedEventsAreAsDocumented ./extras/publishing"},
		{"extras/publishing/asyncapi_test.go", `.*eventjson\.Orders\(\).*`, "go test -run TestPublishedEventsAreAsDocumented ./extras/publishing"},
		{"cmd/standalone/access_test.go", `"/orders/plan": .*`, "go test -run TestWhoMayDoWhat ./cmd/standalone"},
		{"cmd/standalone/access_test.go", `"getOrder": .*`, "go test -run TestWhoMay ./cmd/standalone"},
		{"tests/clients/commands.ts", `.*/orders/plan.*`, "go test -run TestTheClientCallsEveryOperation ./tests/clients"},
		{"usecase/chat/orders.go", `row\.Priority, row\.Due = .*`, "go test -run TestRowsOfOrders/SQLite ./interfaceadaptor/readmodel/chatrows"},
		{"usecase/chat/orders.go", `row\.Closed = true`, "go test -run TestRowsOfOrders/SQLite ./interfaceadaptor/readmodel/chatrows"},
		{"usecase/query/order.go", `Due .*`, "go test -run TestRowsOfOrders/SQLite ./interfaceadaptor/readmodel/chatrows"},
		{"rdb-migration/readmodel/mysql/*_orders.sql", "", "go test -run TestEachMigrationIsThereForEachDatabase ./tests/architecture"},
		{"rdb-migration/readmodel/sqlite/*_orders.sql", "", "go test -run TestEachMigrationIsThereForEachDatabase ./tests/architecture"},
		{"rdb-migration/readmodel/sqlite/*_orders.sql", `due .*`, "go test -run TestRowsOfOrders/SQLite ./interfaceadaptor/readmodel/chatrows"},
		{"interfaceadaptor/rest/orders.go", `Replaces: b\.Replaces,`, "go test -run TestTheStoryOf ./cmd/standalone"},
		{"interfaceadaptor/rest/orders.go", `Rejections: byOwner,`, "go test -run TestRejectionsOfOrdersAreDescribed ./interfaceadaptor/rest"},
		{"interfaceadaptor/rest/orders_test.go", `.*"/orders/plan".*`, "go test -run TestOrderOperations ./interfaceadaptor/rest"},
		{"interfaceadaptor/graphql/orders.graphqls", `"When the order is due\."\n  due: Time!`, generate},
		{"cmd/internal/system/lists.go", `\t\treplaceOrders,`, "make check-lint"},
		{"usecase/chat/replaceorders.go", ` \|\| errors\.Is\(err, order\.ErrNotOwner\)`, "go test -run TestWhatIsSentToOrders ./usecase/chat"},
		{"usecase/chat/replaceorders.go", `, CausationID: recorded\.EventID`, "go test -run TestReplaceOrders/SQLite ./interfaceadaptor/readmodel/chatrows"},
	} {
		t.Run(omission.place+" "+omission.part, func(t *testing.T) {
			defer treecopy.Do(t, folder, "git", "checkout", "-q", ".")
			leaveOut(t, filepath.Join(folder, omission.place), omission.part)
			if strings.HasSuffix(omission.place, ".tsx") {
				treecopy.Do(t, folder, "make", "generate")
			}
			expectHeard(t, folder, omission.heard)
		})
	}
}

const everywhere = "go test -run TestEveryAggregateTypeIsRegisteredEverywhere ./cmd/read-model-updater/projections"

// leaveOut removes what the regular expression matches from the file that a pattern names; if it is empty, the file.
func leaveOut(t *testing.T, pattern, part string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) != 1 {
		t.Fatalf("the files %s are %q", pattern, paths)
	}
	path := paths[0]
	whole, err := os.ReadFile(path)
	if err == nil {
		err = os.Remove(path)
	}
	if err == nil && part != "" {
		rest := regexp.MustCompile(part).ReplaceAll(whole, nil)
		if len(rest) == len(whole) {
			t.Fatalf("%s has no %s", path, part)
		}
		err = os.WriteFile(path, rest, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// place is how compilers and linters begin what they find.
var place = regexp.MustCompile(`(?m)\.(go|graphqls|tsx?)[:(]\d+|out of date`)

// expectHeard runs a command, which must fail: a test as it says, or because it does not compile.
func expectHeard(t *testing.T, folder, command string) {
	t.Helper()
	words := strings.Fields(command)
	heard := exec.CommandContext(t.Context(), words[0], words[1:]...)
	heard.Dir = folder
	output, err := heard.CombinedOutput()
	named := place.Match(output)
	if of := slices.Index(words, "-run"); of > 0 {
		named = bytes.Contains(output, []byte("--- FAIL: "+words[of+1])) || bytes.Contains(output, []byte("[build failed]"))
	}
	if err == nil || !named {
		t.Errorf("%s says nothing of it:\n%s", command, output)
	}
}

const (
	generate   = "make generate"
	compiler   = "go build ./domain/thread ./interfaceadaptor/eventjson ./interfaceadaptor/rest"
	generating = "generate" // what it writes for the page is left as it was
)

// changesOf returns a lesson's text and its changes: a patch for each hunk.
func changesOf(t *testing.T, page, folder string) (text string, changes []string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, "docs/tutorial", page))
	if err != nil {
		t.Fatal(err)
	}
	text = strings.ReplaceAll(string(content), "NNNNN", nextMigration(t, folder))
	for _, block := range blocks.FindAllStringSubmatch(text, -1) {
		head, hunks, _ := strings.Cut(block[1], "@@")
		for _, hunk := range regexp.MustCompile(`(?m)^@@`).Split("@@"+hunks, -1)[1:] {
			changes = append(changes, head+"@@"+hunk)
		}
	}
	return text, changes
}

// apply changes the copy, and generates what the lesson says. The error is that of generating code.
func apply(t *testing.T, folder string, changes []string) ([]byte, error) {
	t.Helper()
	patch(t, folder, changes)
	words := strings.Fields(generate)
	generating := exec.CommandContext(t.Context(), words[0], words[1:]...)
	generating.Dir = folder
	if output, err := generating.CombinedOutput(); err != nil {
		return output, err
	}
	golden := exec.CommandContext(t.Context(), "go", "test", "-run", "TestEventsOfToday", "./interfaceadaptor/eventjson")
	golden.Dir, golden.Env = folder, append(os.Environ(), "UPDATE_GOLDEN=1")
	_ = golden.Run() // it writes the missing files; the tests run again without it
	return nil, nil
}

func patch(t *testing.T, folder string, changes []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "change.patch")
	for _, change := range changes {
		if err := os.WriteFile(path, []byte(change), 0o600); err != nil {
			t.Fatal(err)
		}
		treecopy.Do(t, folder, "git", "apply", path)
	}
}

// nextMigration returns the number of the next migration.
func nextMigration(t *testing.T, folder string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "rdb-migration/readmodel/mysql/*.sql"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	number := 0
	if _, err := fmt.Sscanf(filepath.Base(slices.Max(paths)), "%d_", &number); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%05d", number+1)
}
