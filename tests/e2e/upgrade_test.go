package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"example.com/threads/es/testenv"
	"example.com/threads/tests/programs"
)

// The folder testdata/before-accounts has the data of a build from before the second aggregate existed: the SQLite
// files of its standalone program, and the items of its DynamoDB tables. Both contain the same threads of two tenants,
// with snapshots and idempotency keys. *.expected.json has the keyed requests with their answers, and a query with its
// answer.
const earlierBuild = "testdata/before-accounts"

type earlierStory struct {
	Users    map[string]string
	Requests []struct {
		Path    string
		Body    fields
		Headers headers
		Status  int
		Answer  map[string]any
	}
	Threads []struct {
		Tenant   string
		ThreadID string `json:"thread_id"`
		Version  int
		Query    string
		Answer   map[string]any
	}
}

func TestAnEarlierBuildsSQLiteFilesAreRead(t *testing.T) {
	startsPrograms(t)
	for name, files := range map[string][]string{
		"events and rows":               {"events.db", "readmodel.db"},
		"only events, rows are rebuilt": {"events.db"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			for _, file := range files {
				content := unpacked(t, file+".gz")
				if err := os.WriteFile(filepath.Join(folder, file), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			p := programs.New(t, binaries, "standalone", []string{"DATA_DIR=" + folder, snapshotsOften}, "WRITE_API_ADDR", "READ_API_ADDR", "UPDATER_ADDR", "WEB_ADDR")
			p.Start(t)
			goesOn(t, &system{writeURL: p.URLs[0], readURL: p.URLs[1], updaterURL: p.URLs[2]}, "sqlite.expected.json")
		})
	}
}

func TestAnEarlierBuildsDynamoDBTablesAreRead(t *testing.T) {
	startsPrograms(t)
	env := dynamoDB(t)
	fill(t, env)
	goesOn(t, threePrograms(t, env), "dynamodb.expected.json")
}

// goesOn checks that the system shows the old data, answers repeats as the earlier build did, and accepts new commands.
func goesOn(t *testing.T, s *system, expected string) {
	t.Helper()
	var story earlierStory
	text, err := os.ReadFile(filepath.Join(earlierBuild, expected))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &story); err != nil {
		t.Fatal(err)
	}
	ada := story.Users["ada"]
	for _, thread := range story.Threads {
		header := headers{"Consistency-Token": fmt.Sprintf("%s:%d", thread.ThreadID, thread.Version)}
		if thread.Tenant != "" {
			header["X-Tenant-Code"] = thread.Tenant
		}
		body, err := json.Marshal(fields{"query": thread.Query, "variables": fields{"t": thread.ThreadID, "u": ada}})
		if err != nil {
			t.Fatal(err)
		}
		seen, err := send(t.Context(), s.readURL+"/graphql", body, header)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(fields{"data": thread.Answer}, fields(seen.body), cmp.Transformer("", func(f fields) map[string]any { return f })); diff != "" {
			t.Errorf("the thread of tenant %q (-then +now):\n%s", thread.Tenant, diff)
		}
	}
	for _, request := range story.Requests {
		repeat := s.sent(t, request.Path, request.Body, request.Headers)
		if repeat.status != request.Status || repeat.header.Get("Idempotent-Replayed") != "true" || !cmp.Equal(request.Answer, repeat.body) {
			t.Errorf("repeat of %s %v: %d %s, want %d %v", request.Path, request.Headers, repeat.status, repeat.raw, request.Status, request.Answer)
		}
	}
	for _, thread := range story.Threads {
		header := headers{}
		if thread.Tenant != "" {
			header["X-Tenant-Code"] = thread.Tenant
		}
		posted := s.sent(t, "/threads/post_message", fields{"executor_id": ada, "thread_id": thread.ThreadID, "text": "after the upgrade"}, header)
		if posted.status != 200 || posted.version() != thread.Version+1 {
			t.Errorf("a new message: %d %s", posted.status, posted.raw)
		}
	}
}

func (s *system) sent(t *testing.T, path string, body fields, header headers) answer {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	got, err := send(t.Context(), s.writeURL+path, text, header)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func unpacked(t *testing.T, file string) []byte {
	t.Helper()
	packed, err := os.Open(filepath.Join(earlierBuild, file))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	reader, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// fill writes the items of the earlier build into empty tables in the order of time, so that the stream has them.
func fill(t *testing.T, env []string) {
	t.Helper()
	var tables map[string][]map[string]map[string]string
	if err := json.NewDecoder(bytes.NewReader(unpacked(t, "dynamodb.json.gz"))).Decode(&tables); err != nil {
		t.Fatal(err)
	}
	client := dynamodb.NewFromConfig(testenv.DynamoDBConfig(t))
	for table, variable := range map[string]string{"journal": "JOURNAL_TABLE=", "snapshot": "SNAPSHOT_TABLE="} {
		at := slices.IndexFunc(env, func(setting string) bool { return strings.HasPrefix(setting, variable) })
		name := strings.TrimPrefix(env[at], variable)
		for _, item := range tables[table] {
			values := map[string]types.AttributeValue{}
			for attribute, typed := range item {
				values[attribute] = valueOf(t, typed)
			}
			if _, expires := values["ttl"]; expires {
				values["ttl"] = &types.AttributeValueMemberN{Value: fmt.Sprint(time.Now().Add(time.Hour).Unix())}
			}
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &name, Item: values}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func valueOf(t *testing.T, typed map[string]string) types.AttributeValue {
	t.Helper()
	for kind, text := range maps.All(typed) {
		switch kind {
		case "S":
			return &types.AttributeValueMemberS{Value: text}
		case "N":
			return &types.AttributeValueMemberN{Value: text}
		case "B":
			binary, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				t.Fatal(err)
			}
			return &types.AttributeValueMemberB{Value: binary}
		}
	}
	t.Fatalf("a value that is neither text, number nor binary: %v", typed)
	return nil
}
