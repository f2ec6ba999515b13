package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/programs"
)

type item = map[string]types.AttributeValue

// A restore on DynamoDB goes as docs/operations.md says. DynamoDB Local restores nothing, so the tables are copied, at
// different moments: as after a restore, they contradict each other.
func TestARestoreOnDynamoDB(t *testing.T) {
	startsPrograms(t)
	env := dynamoDB(t)
	s := threePrograms(t, env)
	ada := s.person("acme")
	post := func(thread, text string) answer {
		return ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": text})
	}
	var threads []string // the first has an event without its head, the second a head without its event
	for range 3 {
		thread := ada.command(t, "/threads/create", fields{"name": "tea"}).text("thread_id")
		for i := range 12 {
			post(thread, fmt.Sprint("kept ", i))
		}
		threads = append(threads, thread)
	}
	journal := itemsOf(t, variable(env, "JOURNAL_TABLE"))
	post(threads[1], "whose event is lost")
	heads := itemsOf(t, variable(env, "SNAPSHOT_TABLE"))
	post(threads[0], "whose head is older")
	for _, later := range itemsOf(t, variable(env, "JOURNAL_TABLE")) {
		if aid, is := later["aid"].(*types.AttributeValueMemberS); is && aid.Value == "thread-"+threads[0] {
			journal = append(journal, later) // most of them are put twice
		}
	}
	last := post(threads[2], "that is lost")
	ada.view(t, threads[2], token(last))

	s.writer.Stop(t)
	s.projector.Stop(t)
	s.reader.Stop(t)
	names := []string{"JOURNAL_TABLE=" + variable(env, "JOURNAL_TABLE") + "-restored", "SNAPSHOT_TABLE=" + variable(env, "SNAPSHOT_TABLE") + "-restored"}
	s.store = append(s.store, names...)
	runOnce(t, "dynamodb-setup", s.store)
	setStream(t, variable(names, "JOURNAL_TABLE"), false) // as in a restored table
	if _, _, code := runProgram(t, filepath.Join(binaries, "dynamodb-setup"), s.store); code == 0 {
		t.Error("dynamodb-setup finds nothing wrong without a stream")
	}
	setStream(t, variable(names, "JOURNAL_TABLE"), true)
	runOnce(t, "dynamodb-setup", s.store)
	tables := dynamoTables(t, names)
	for _, i := range journal {
		tables.put(t, tables.journal, i)
	}
	for _, i := range heads {
		tables.put(t, tables.snapshot, i)
	}
	found := s.operate(t, isWrong, "journal", "check")
	for _, want := range []string{"head_behind", "head_ahead"} {
		if !strings.Contains(found, want) {
			t.Errorf("journal check does not find %s:\n%s", want, found)
		}
	}
	script := scriptsOfTheOperators(t)[restoreOnDynamoDB]
	s.script(t, strings.ReplaceAll(script, "go run ./tools/dynamodb-setup", "dynamodb-setup"), "PATH="+binaries+":"+os.Getenv("PATH"))
	for _, program := range []*programs.Program{s.projector, s.reader, s.writer} {
		program.Set(names...)
		program.Start(t)
	}
	for i, versions := range []int{14, 13, 13} { // created, twelve messages, and the one whose event was there
		last := ada.command(t, "/threads/post_message", fields{"thread_id": threads[i], "text": "after all"})
		if view := ada.view(t, threads[i], token(last)); view.Version != versions+1 || len(view.Messages) != versions {
			t.Errorf("thread %d is at version %d with %d messages, want %d after the restore", i, view.Version, len(view.Messages), versions)
		}
	}
	testenv.Eventually(t, 30*time.Second, func() error { return s.metric(t, "projection_parked_aggregates", "0") })
	s.operate(t, allIsWell, "journal", "check")
	s.operate(t, allIsWell, "rows", "verify")
}

func setStream(t *testing.T, table string, on bool) {
	t.Helper()
	stream := &types.StreamSpecification{StreamEnabled: aws.Bool(on)}
	if on {
		stream.StreamViewType = types.StreamViewTypeNewImage
	}
	client := dynamodb.NewFromConfig(testenv.DynamoDBConfig(t))
	if _, err := client.UpdateTable(t.Context(), &dynamodb.UpdateTableInput{TableName: aws.String(table), StreamSpecification: stream}); err != nil {
		t.Fatal(err)
	}
}

func itemsOf(t *testing.T, table string) (items []item) {
	t.Helper()
	pages := dynamodb.NewScanPaginator(dynamodb.NewFromConfig(testenv.DynamoDBConfig(t)), &dynamodb.ScanInput{
		TableName: aws.String(table), ConsistentRead: aws.Bool(true),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, page.Items...)
	}
	return items
}
