package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
)

// scaleInputs is what the scale model (tools/dev/scale) is told about the programs.
const scaleInputs = "../../tools/dev/scale/measured.json"

// measured is what one post of a message takes, on average. Units are DynamoDB's.
type measured struct {
	TextBytes    float64 // of the message
	ItemBytes    float64 // of the event in the journal
	JournalUnits float64 // written, for each event
	IndexUnits   float64 // written, for each event
	HeadUnits    float64 // written, for each write
	UpkeepUnits  float64 // written for snapshots, for each event
	ReadUnits    float64 // of all programs, for each event
	Rows         float64 // inserted, changed or deleted in the read model for an event alone; a batch shares some
	LogBytes     float64 // of all programs, for each command
	WriteSeconds float64 // of a processor, of the write-api for a command among many
	QuerySeconds float64 // of a processor, of the read-api for 50 messages
	Series       float64 // of metrics, of each program
}

// The scale model must know what the programs consume. With UPDATE_AWS=1 the file is written.
func TestScaleInputs(t *testing.T) {
	startsPrograms(t)
	env := append(dynamoDB(t), "SNAPSHOT_EVERY=100", "VERIFY_RATE=0", "LOG_LEVEL=info")
	s := threePrograms(t, env)
	ada := s.person("")
	rows := countRows(t, variable(env, "DATABASE_URL"))
	var found []measured
	for _, length := range []int{100, 1000, 4000} {
		thread := ada.command(t, "/threads/create", fields{"name": "tea"})
		id := thread.text("thread_id")
		post := func() (last answer) {
			return ada.command(t, "/threads/post_message", fields{"thread_id": id, "text": strings.Repeat("x", length)})
		}
		for range 105 { // a snapshot follows at 101, and is written before the count begins
			thread = post()
		}
		ada.view(t, id, token(thread))
		const posts, alone = 80, 20 // with one snapshot
		before, logBefore := s.units(t), s.logSize(t)
		for range posts {
			thread = post()
		}
		ada.view(t, id, token(thread))
		logs := s.logSize(t) - logBefore
		rowsBefore := rows()
		for range alone {
			ada.view(t, id, token(post()))
		}
		used := s.units(t) // snapshots included, which are written after their commands
		of := func(table, operation string, index bool) (sum float64) {
			for key, units := range used {
				if strings.HasSuffix(key.table, table) && (key.index != "") == index && strings.HasPrefix(key.operation, operation) {
					sum += (units - before[key]) / (posts + alone)
				}
			}
			return sum
		}
		m := measured{
			TextBytes: float64(length), ItemBytes: itemBytes(t, variable(env, "JOURNAL_TABLE"), id),
			JournalUnits: of("-journal", "TransactWriteItems", false), IndexUnits: of("-journal", "TransactWriteItems", true),
			HeadUnits: of("-snapshot", "TransactWriteItems", false) + of("-snapshot", "TransactWriteItems", true),
			Rows:      (rows() - rowsBefore) / alone, LogBytes: logs / posts,
		}
		for _, operation := range []string{"PutItem", "UpdateItem", "DeleteItem"} {
			m.UpkeepUnits += of("-snapshot", operation, false) + of("-snapshot", operation, true)
		}
		for _, operation := range []string{"GetItem", "BatchGetItem", "Query", "Scan"} {
			for _, table := range []string{"-snapshot", "-journal"} {
				m.ReadUnits += of(table, operation, false) + of(table, operation, true)
			}
		}
		found = append(found, m)
	}
	for i := range found {
		found[i].Series = s.series(t)
	}
	t.Run("commands that share a write share its head", func(t *testing.T) { testSharedHead(t, s, ada, found[0]) })

	if os.Getenv("UPDATE_AWS") != "" {
		for i := range found {
			measureProcessors(t, s, ada, &found[i]) // not compared: it is not the same on any two machines
		}
		wantFile(t, scaleInputs, found)
	}
	known := knownInputs[map[string]float64](t)
	if len(known) != len(found) {
		t.Fatalf("%s has %d entries", scaleInputs, len(known))
	}
	for i, m := range found {
		text, _ := json.Marshal(m)
		var now map[string]float64
		if err := json.Unmarshal(text, &now); err != nil {
			t.Fatal(err)
		}
		for name, value := range now {
			// These depend on time: programs look whether the store answers, and write positions once a batch.
			depends := name == "ReadUnits" || name == "Rows" || strings.HasSuffix(name, "Seconds")
			if difference := math.Abs(value - known[i][name]); difference > 0.1*known[i][name]+0.02 && !depends {
				t.Errorf("%s of a text of %v bytes is %.2f, and %.2f in %s; UPDATE_AWS=1 writes it", name, m.TextBytes, value, known[i][name], scaleInputs)
			}
		}
	}
}

func knownInputs[M measured | map[string]float64](t *testing.T) (known []M) {
	t.Helper()
	text, err := os.ReadFile(scaleInputs)
	if err == nil {
		err = json.Unmarshal(text, &known)
	}
	if err != nil {
		t.Fatalf("%s: %v", scaleInputs, err)
	}
	return known
}

// A projection to SQLite changes as many rows as the model takes for MySQL.
func TestRowsOnSQLite(t *testing.T) {
	startsPrograms(t)
	known := knownInputs[measured](t)
	s := oneProcess(t, "VERIFY_RATE=0")
	ada := s.person("")
	id := ada.command(t, "/threads/create", fields{"name": "tea"}).text("thread_id")
	rows := countRows(t, variable(s.store, "DATABASE_URL"))
	const posts = 20
	for range posts {
		posted := ada.command(t, "/threads/post_message", fields{"thread_id": id, "text": strings.Repeat("x", int(known[0].TextBytes))})
		ada.view(t, id, token(posted))
	}
	if changed := rows() / posts; math.Abs(changed-known[0].Rows) > 0.5 {
		t.Errorf("a post changes %.2f rows, and %.2f in the model", changed, known[0].Rows)
	}
}

const crowd, eachOfThem = 25, 8

// crowded lets many clients do something a few times each, at the same time.
func crowded(t *testing.T, do func(client int) error) {
	t.Helper()
	var group errgroup.Group
	for client := range crowd {
		group.Go(func() error {
			for range eachOfThem {
				if err := do(client); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

func (p person) posts(ctx context.Context, thread string, length float64) error {
	a, err := p.try(ctx, "/threads/post_message", fields{"thread_id": thread, "text": strings.Repeat("x", int(length))}, nil)
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("%d %s", a.status, a.raw)
	}
	return err
}

func testSharedHead(t *testing.T, s *system, ada person, one measured) {
	id := ada.command(t, "/threads/create", fields{"name": "tea"}).text("thread_id")
	before := s.units(t)
	crowded(t, func(int) error { return ada.posts(t.Context(), id, one.TextBytes) })
	// DynamoDB Local counts one item of each table in a transaction, DynamoDB counts all. The head is one item.
	heads := 0.0
	for key, units := range s.units(t) {
		if key.operation == "TransactWriteItems" && strings.HasSuffix(key.table, "-snapshot") {
			heads += units - before[key]
		}
	}
	if heads == 0 || heads > one.HeadUnits*crowd*eachOfThem/2 {
		t.Errorf("%d events took %v units for heads, as if they shared no writes", crowd*eachOfThem, heads)
	}
}

// measureProcessors lets many clients post, each to a thread of its own, and then query one of 50 messages.
func measureProcessors(t *testing.T, s *system, ada person, m *measured) {
	t.Helper()
	threads := make([]string, crowd)
	for i := range threads {
		threads[i] = ada.command(t, "/threads/create", fields{"name": "tea"}).text("thread_id")
	}
	written, read := processor(t, s.writeURL), processor(t, s.readURL)
	crowded(t, func(client int) error { return ada.posts(t.Context(), threads[client], m.TextBytes) })
	m.WriteSeconds = (processor(t, s.writeURL) - written) / (crowd * eachOfThem)
	for range 50 - eachOfThem {
		ada.command(t, "/threads/post_message", fields{"thread_id": threads[0], "text": strings.Repeat("x", int(m.TextBytes))})
	}
	crowded(t, func(int) error {
		var page struct{ GetMessages []messageView }
		query := `query($thread: ID!, $viewer: ID!) { getMessages(threadId: $thread, userAccountId: $viewer) { id text createdAt } }`
		errs, err := ada.query(t.Context(), &page, query, fields{"thread": threads[0], "viewer": ada.id}, threads[0]+":51")
		if err == nil && len(page.GetMessages) != 50 {
			err = fmt.Errorf("%d messages, %v", len(page.GetMessages), errs)
		}
		return err
	})
	m.QuerySeconds = (processor(t, s.readURL) - read) / (crowd * eachOfThem)
}

var processorSeconds = regexp.MustCompile(`(?m)^process_cpu_seconds_total (\S+)$`)

// processor returns the seconds of a processor that a program has used.
func processor(t *testing.T, url string) float64 {
	t.Helper()
	found := processorSeconds.FindStringSubmatch(get(t, url+"/metrics"))
	if found == nil {
		t.Fatalf("%s does not tell", url)
	}
	seconds, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return seconds
}

type consumer struct{ index, operation, table string }

var consumed = regexp.MustCompile(`(?m)^dynamodb_consumed_capacity_units_total\{index="(.*)",operation="(.*)",table="(.*)"\} (\S+)$`)

// units returns what all programs have consumed.
func (s *system) units(t *testing.T) map[consumer]float64 {
	t.Helper()
	units := map[consumer]float64{}
	for _, url := range []string{s.writeURL, s.updaterURL, s.readURL} {
		for _, line := range consumed.FindAllStringSubmatch(get(t, url+"/metrics"), -1) {
			value, err := strconv.ParseFloat(line[4], 64)
			if err != nil {
				t.Fatal(err)
			}
			units[consumer{line[1], line[2], line[3]}] += value
		}
	}
	return units
}

// series returns how many series of metrics a program has on average.
func (s *system) series(t *testing.T) (series float64) {
	t.Helper()
	urls := []string{s.writeURL, s.updaterURL, s.readURL}
	for _, url := range urls {
		for line := range strings.Lines(get(t, url+"/metrics")) {
			if !strings.HasPrefix(line, "#") {
				series++
			}
		}
	}
	return series / float64(len(urls))
}

func (s *system) logSize(t *testing.T) (size float64) {
	t.Helper()
	info, err := os.Stat(s.writer.Log)
	if err != nil {
		t.Fatal(err)
	}
	size = float64(info.Size())
	if info, err = os.Stat(s.projector.Log); err != nil {
		t.Fatal(err)
	}
	return size + float64(info.Size())
}

// countRows counts by triggers which rows change from now on, without those that the updater changes as time goes on.
func countRows(t *testing.T, url string) func() float64 {
	t.Helper()
	db, err := database.Open(t.Context(), url, database.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	var tables []string
	names, trigger := "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()", "UPDATE changed_rows SET changes = changes + 1"
	if strings.HasPrefix(url, "sqlite:") {
		names, trigger = "SELECT name AS table_name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", "BEGIN "+trigger+"; END"
	}
	query := "SELECT table_name FROM (" + names + ") AS tables WHERE table_name NOT IN ('checkpoints', 'projection_reports', 'projection_turn')"
	if err := db.SelectContext(t.Context(), &tables, query); err != nil {
		t.Fatal(err)
	}
	statements := []string{"CREATE TABLE changed_rows (changes BIGINT NOT NULL)", "INSERT INTO changed_rows VALUES (0)"}
	for _, table := range tables {
		for _, change := range []string{"INSERT", "UPDATE", "DELETE"} {
			statements = append(statements, fmt.Sprintf("CREATE TRIGGER count_%s_%s AFTER %s ON %s FOR EACH ROW %s", table, change, change, table, trigger))
		}
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return func() (changes float64) {
		if err := db.GetContext(t.Context(), &changes, "SELECT changes FROM changed_rows"); err != nil {
			t.Fatal(err)
		}
		return changes
	}
}

// itemBytes returns the size of a thread's last event as DynamoDB counts it: the names and the values of attributes.
func itemBytes(t *testing.T, table, thread string) (size float64) {
	t.Helper()
	found, err := dynamodb.NewFromConfig(testenv.DynamoDBConfig(t)).Query(t.Context(), &dynamodb.QueryInput{
		TableName: aws.String(table), IndexName: aws.String("journal-aid-index"), KeyConditionExpression: aws.String("aid = :aid"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":aid": &types.AttributeValueMemberS{Value: "thread-" + thread}},
		ScanIndexForward:          aws.Bool(false), Limit: aws.Int32(1),
	})
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("%v and %d items", err, len(found.Items))
	}
	for name, value := range found.Items[0] {
		size += float64(len(name))
		switch value := value.(type) {
		case *types.AttributeValueMemberS:
			size += float64(len(value.Value))
		case *types.AttributeValueMemberB:
			size += float64(len(value.Value))
		case *types.AttributeValueMemberN:
			size += float64(len(value.Value))/2 + 1
		}
	}
	return size
}
