package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/lambdatest"
	"example.com/threads/tests/programs"
)

// What deploy/aws reads, because its stacks can't import Go.
const (
	awsTables  = "../../deploy/aws/tables.json"
	awsActions = "../../deploy/aws/actions.json"
	awsMetrics = "../../deploy/aws/metrics.json"
)

// wantFile compares a file with what it must contain. With UPDATE_AWS=1 it is written.
func wantFile(t *testing.T, path string, content any) {
	t.Helper()
	want, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if os.Getenv("UPDATE_AWS") != "" {
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := os.ReadFile(path); err != nil || !bytes.Equal(found, want) {
		t.Errorf("%s differs (%v); UPDATE_AWS=1 writes it, then run make aws-check. It must be:\n%s", path, err, want)
	}
}

// table is a table in the words of CloudFormation.
type table struct {
	KeySchema, AttributeDefinitions any
	GlobalSecondaryIndexes          []index           `json:",omitempty"`
	StreamSpecification             map[string]string `json:",omitempty"`
	TimeToLiveSpecification         map[string]any    `json:",omitempty"`
}

type index struct {
	IndexName  string
	KeySchema  any
	Projection map[string]any
}

// The stacks on AWS must create the tables that dynamodb-setup creates.
func TestTablesOnAWS(t *testing.T) {
	startsPrograms(t)
	env := append(dynamoDB(t), erasureOn("KEY_TABLE="+testenv.UniqueName(t))...)
	runOnce(t, "dynamodb-setup", env)
	client := dynamodb.NewFromConfig(testenv.DynamoDBConfig(t))
	tables := map[string]table{}
	for _, setting := range []string{"JOURNAL_TABLE", "SNAPSHOT_TABLE", "KEY_TABLE"} {
		name := aws.String(variable(env, setting))
		described, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: name})
		if err != nil {
			t.Fatal(err)
		}
		ttl, err := client.DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: name})
		if err != nil {
			t.Fatal(err)
		}
		tables[setting] = tableOf(described.Table, ttl.TimeToLiveDescription)
	}
	wantFile(t, awsTables, tables)
}

func tableOf(described *types.TableDescription, ttl *types.TimeToLiveDescription) table {
	keys := func(schema []types.KeySchemaElement) (keys []map[string]string) {
		for _, key := range schema {
			keys = append(keys, map[string]string{"AttributeName": *key.AttributeName, "KeyType": string(key.KeyType)})
		}
		return keys
	}
	attributes := map[string]string{}
	for _, attribute := range described.AttributeDefinitions {
		attributes[*attribute.AttributeName] = string(attribute.AttributeType)
	}
	var definitions []map[string]string
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		definitions = append(definitions, map[string]string{"AttributeName": name, "AttributeType": attributes[name]})
	}
	made := table{KeySchema: keys(described.KeySchema), AttributeDefinitions: definitions}
	for _, found := range described.GlobalSecondaryIndexes {
		projection := map[string]any{"ProjectionType": found.Projection.ProjectionType}
		if names := slices.Sorted(slices.Values(found.Projection.NonKeyAttributes)); len(names) > 0 {
			projection["NonKeyAttributes"] = names
		}
		made.GlobalSecondaryIndexes = append(made.GlobalSecondaryIndexes, index{*found.IndexName, keys(found.KeySchema), projection})
	}
	if stream := described.StreamSpecification; stream != nil {
		made.StreamSpecification = map[string]string{"StreamViewType": string(stream.StreamViewType)}
	}
	if ttl != nil && ttl.AttributeName != nil {
		made.TimeToLiveSpecification = map[string]any{"AttributeName": *ttl.AttributeName, "Enabled": true}
	}
	return made
}

// The stacks must set variables that the programs read, and expect the programs on the ports that they listen on.
func TestSettingsOnAWS(t *testing.T) {
	startsPrograms(t)
	checked := map[string]bool{}
	for _, stack := range []string{"jobs", "programs"} {
		text, err := os.ReadFile("../../deploy/aws/test/snapshot/" + stack + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var template struct {
			Resources map[string]struct {
				Type       string
				Properties struct {
					ContainerDefinitions []struct {
						Name                 string
						Command              []string
						Environment, Secrets []struct{ Name string }
						PortMappings         []struct{ ContainerPort int }
					}
				}
			}
		}
		if err := json.Unmarshal(text, &template); err != nil {
			t.Fatal(err)
		}
		for _, resource := range template.Resources {
			for _, container := range resource.Properties.ContainerDefinitions {
				if container.Name != "program" {
					continue
				}
				program := strings.TrimPrefix(container.Command[0], "/")
				checked[program] = true
				help, err := exec.CommandContext(t.Context(), filepath.Join(binaries, program), "--help").Output()
				if err != nil {
					t.Fatalf("%s --help: %v", program, err)
				}
				for _, variable := range slices.Concat(container.Environment, container.Secrets) {
					if !strings.Contains(string(help), "\n  "+variable.Name+" ") {
						t.Errorf("%s does not read %s", program, variable.Name)
					}
				}
				for _, port := range container.PortMappings {
					if !strings.Contains(string(help), fmt.Sprintf("(:%d)\n", port.ContainerPort)) {
						t.Errorf("%s does not listen on %d", program, port.ContainerPort)
					}
				}
			}
		}
	}
	if len(checked) != 5 {
		t.Errorf("checked only %v", slices.Sorted(maps.Keys(checked)))
	}
}

// recorder records the AWS actions of one program, by the resource that IAM checks them on. It hides the latest item of
// the journal's index, as an index that is behind does: programs then read by key. It is also AWS KMS.
type recorder struct {
	URL    string
	tables map[string]string // names of tables, and their settings

	mutex   sync.Mutex
	actions map[string]map[string]bool
}

func newRecorder(t *testing.T, tables map[string]string) *recorder {
	endpoint, err := url.Parse(testenv.DynamoDB(t))
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{tables: tables, actions: map[string]map[string]bool{}}
	pass := httputil.NewSingleHostReverseProxy(endpoint)
	pass.ModifyResponse = changeAnswer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return // the program has given up
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
		service, action, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
		if service == "TrentService" {
			r.saw("ERASURE_KMS_KEY", "kms:"+action)
			answerAsKMS(w, body)
			return
		}
		if err := r.record(action, body); err != nil {
			t.Errorf("%s %s: %v", action, body, err)
		}
		if strings.Contains(string(body), `"IndexName":"journal-aid-index"`) {
			request = changing(request, hideLatest)
		}
		pass.ServeHTTP(w, request)
	}))
	t.Cleanup(server.Close)
	r.URL = server.URL
	return r
}

// said is a call to DynamoDB, or its answer.
type said = map[string]any

// hideLatest makes an answer that of an index that is behind.
func hideLatest(answer said) {
	if items, _ := answer["Items"].([]any); len(items) > 0 {
		answer["Items"], answer["Count"] = items[:len(items)-1], len(items)-1
	}
}

type changeKey struct{}

// changing marks a request whose answer is to be changed.
func changing(request *http.Request, change func(said)) *http.Request {
	return request.WithContext(context.WithValue(request.Context(), changeKey{}, change))
}

// changeAnswer is for answers to requests of which some are marked.
func changeAnswer(response *http.Response) error {
	change, marked := response.Request.Context().Value(changeKey{}).(func(said))
	if !marked || response.StatusCode != http.StatusOK {
		return nil
	}
	var answer said
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	change(answer)
	body, err := json.Marshal(answer)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return err
}

func (r *recorder) saw(resource string, action string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.actions[resource] == nil {
		r.actions[resource] = map[string]bool{}
	}
	r.actions[resource][action] = true
}

func (r *recorder) used(resource, action string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.actions[resource][action]
}

// call has the parts of requests to DynamoDB that name tables.
type call struct {
	TableName, IndexName, StreamArn, ShardIterator string
	RequestItems                                   map[string]any
	TransactItems                                  []map[string]struct{ TableName string }
}

// record records a call's actions. IAM has no action for a transaction: it checks each of its changes.
func (r *recorder) record(action string, body []byte) error {
	var c call
	if err := json.Unmarshal(body, &c); err != nil {
		return err
	}
	places := map[string][]string{} // actions and tables
	switch {
	case c.StreamArn != "" || c.ShardIterator != "":
		r.saw("JOURNAL_TABLE/stream", "dynamodb:"+action)
		return nil
	case len(c.TransactItems) > 0:
		for _, item := range c.TransactItems {
			for change, where := range item {
				name := map[string]string{"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "Get": "GetItem", "ConditionCheck": "ConditionCheckItem"}[change]
				places[name] = append(places[name], where.TableName)
			}
		}
	case len(c.RequestItems) > 0:
		places[action] = slices.Collect(maps.Keys(c.RequestItems))
	default:
		places[action] = []string{c.TableName}
	}
	for name, tables := range places {
		for _, table := range tables {
			setting, known := r.tables[table]
			if !known || name == "" {
				return fmt.Errorf("an action %q on the table %q", name, table)
			}
			if c.IndexName != "" {
				setting += "/index"
			}
			r.saw(setting, "dynamodb:"+name)
			if setting == "JOURNAL_TABLE" && name == "PutItem" { // a refused append looks for its own event
				r.saw(setting, "dynamodb:GetItem")
			}
		}
	}
	return nil
}

// answerAsKMS wraps a key by writing the owner before it.
func answerAsKMS(w http.ResponseWriter, body []byte) {
	var asked struct{ Plaintext, CiphertextBlob []byte }
	if err := json.Unmarshal(body, &asked); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"KeyId": "key", "CiphertextBlob": asked.Plaintext, "Plaintext": asked.CiphertextBlob})
}

// The role of each program on AWS must allow the actions that the program uses, and no other.
func TestActionsOnAWS(t *testing.T) {
	startsPrograms(t)
	keys := testenv.UniqueName(t)
	env := append(dynamoDB(t), "ERASURE=on", "ERASURE_KMS_KEY=alias/threads", "KEY_TABLE="+keys, "SNAPSHOT_KEEP=0", "REBUILD=auto", "SHARD_COUNT=64,16")
	runOnce(t, "dynamodb-setup", env)
	runOnce(t, "migrate", env, "up")
	tables := map[string]string{keys: "KEY_TABLE"}
	for _, setting := range []string{"JOURNAL_TABLE", "SNAPSHOT_TABLE"} {
		tables[variable(env, setting)] = setting
	}
	recorders := map[string]*recorder{}
	through := func(name string) []string {
		r := newRecorder(t, tables)
		recorders[name] = r
		return append(slices.Clone(env), "AWS_ENDPOINT_URL_DYNAMODB="+r.URL, "AWS_ENDPOINT_URL_DYNAMODB_STREAMS="+r.URL, "AWS_ENDPOINT_URL_KMS="+r.URL)
	}
	start := func(name, address string) *programs.Program {
		p := programs.New(t, binaries, name, through(name), address)
		p.Start(t)
		return p
	}
	// The updater starts last, when there are events for it to compare the rows with.
	write := start("write-api", "WRITE_API_ADDR")
	s := &system{store: env, writeURL: write.URLs[0], writer: write}
	ada, bob := s.person("acme"), s.person("acme")
	work := func() (thread string) {
		thread = ada.command(t, "/threads/create", fields{"name": "tea"}).text("thread_id")
		for i := range 45 {
			ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": fmt.Sprint("message ", i)})
		}
		return thread
	}
	bob.command(t, "/accounts/register", fields{"name": "Bob"})
	work()
	updater := start("read-model-updater", "UPDATER_ADDR")
	read := start("read-api", "READ_API_ADDR")
	s.updaterURL, s.projector, s.readURL = updater.URLs[0], updater, read.URLs[0]
	thread := work()
	keyed := func(text string) answer {
		return ada.attempt(t, "/threads/post_message", fields{"thread_id": thread, "text": text}, headers{"Idempotency-Key": "one"})
	}
	keyed("once")
	ada.command(t, "/threads/snapshot", fields{"thread_id": thread})
	ada.command(t, "/threads/add_member", fields{"thread_id": thread, "user_account_id": bob.id, "role": "Member"})
	write.Stop(t) // what is in memory is not read
	write.Start(t)
	keyed("once")
	last := ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": "again"})
	ada.view(t, thread, token(last))

	// An import whose author has no key yet, with a thread that does not exist, and new ones. A new thread is looked
	// for under both shard counts, unless they put it at the same place, as every fourth.
	eve := s.person("acme")
	ada.command(t, "/threads/add_member", fields{"thread_id": thread, "user_account_id": eve.id, "role": "Member"})
	line := func(thread string) string {
		return fmt.Sprintf(`{"path":"/threads/post_message","body":{"thread_id":%q,"text":"imported"}}`+"\n", thread)
	}
	create := `{"path":"/threads/create","body":{"name":"imported"}}` + "\n"
	lines := strings.Repeat(line(thread), 40) + line(eve.id) + strings.Repeat(create, 10)
	imported, err := send(t.Context(), s.writeURL+"/tasks/import", []byte(lines), headers{
		"X-Tenant-Code": "acme", "X-Executor-Id": eve.id, "Content-Type": "application/x-ndjson", "Idempotency-Key": "import",
	})
	if err != nil || imported.status != http.StatusAccepted {
		t.Fatalf("%d %s, %v", imported.status, imported.raw, err)
	}
	eve.finished(t, imported.text("task_id"), "succeeded")
	exported := ada.command(t, "/tasks/export_thread", fields{"thread_id": thread})
	ada.finished(t, exported.text("task_id"), "succeeded")

	var page historyPage
	ada.ask(t, &page, historyQuery, fields{"t": thread, "u": ada.id, "first": 100})
	var at threadAt
	ada.ask(t, &at, atQuery, fields{"t": thread, "u": ada.id, "v": 5, "first": 50})

	bob.command(t, "/threads/post_message", fields{"thread_id": thread, "text": "bob's"})
	bob.command(t, "/accounts/erase", nil) // its process closes the account, which leaves the thread
	testenv.Eventually(t, leavesWithin, func() error {
		if texts := ada.textsOf(t, thread); texts[len(texts)-1] != "[erased]" {
			return fmt.Errorf("the last text is %q", texts[len(texts)-1])
		}
		return nil
	})

	// The updater rebuilds rows of another version.
	rows := sqlSpoiler{variable(env, "DATABASE_URL")}
	rows.run(t, "UPDATE threads SET name = 'as it was made before' WHERE id = ?", thread)
	rows.run(t, "UPDATE row_sets SET handlers = REPLACE(handlers, 'thread=', 'thread=9') WHERE projection = 'read-model'")
	testenv.Eventually(t, leavesWithin, func() error {
		if view := ada.view(t, thread); view.Name != "tea" {
			return fmt.Errorf("the thread is %+v", view)
		}
		return nil
	})

	aid := "thread-" + thread
	s.store = through("threadctl")
	for _, args := range []string{"journal show", "journal check", "snapshots take", "rows verify", "rows verify --repair"} {
		s.operate(t, allIsWell, append(strings.Fields(args), "--tenant", "acme", aid)...)
	}
	for _, args := range []string{"journal check", "snapshots take", "rows verify", "rows rebuild", "dead-letters list", "dead-letters retry", "prune --older-than 24h"} {
		s.operate(t, allIsWell, strings.Fields(args)...)
	}
	spoilerOf(t, env).setHead(t, aid, 20)
	s.operate(t, isWrong, "rows", "verify", "--tenant", "acme", aid)
	s.operate(t, allIsWell, "journal", "repair", "--tenant", "acme", aid)
	s.store = through("verify") // the job on AWS that does nothing else
	s.operate(t, allIsWell, "rows", "verify")
	s.store = env

	publishOnLambda(t, through("lambda-publisher"))

	// The process of the function, and no other, makes who closes an account leave a thread. Its event is the
	// hundredth since the snapshot, so that it takes another one.
	updater.Stop(t)
	dan := s.person("acme")
	dan.command(t, "/accounts/register", fields{"name": "Dan"})
	left := ada.command(t, "/threads/create", fields{"name": "left"}).text("thread_id")
	ada.command(t, "/threads/add_member", fields{"thread_id": left, "user_account_id": dan.id, "role": "Member"})
	s.operate(t, allIsWell, "snapshots", "take", "--tenant", "acme", "thread-"+left)
	write.Stop(t)
	write.Set("SNAPSHOT_EVERY=1000") // so that the next one is the function's
	write.Start(t)
	for version := 0; version < 101; {
		version = dan.command(t, "/threads/post_message", fields{"thread_id": left, "text": "more"}).version()
	}
	dan.command(t, "/accounts/close", nil)
	projectOnLambda(t, through("lambda-updater"), func() error {
		if !recorders["lambda-updater"].used("SNAPSHOT_TABLE", "dynamodb:DeleteItem") {
			return errors.New("the function has not replaced a snapshot")
		}
		return nil
	})

	used := map[string]map[string][]string{}
	for name, r := range recorders {
		r.mutex.Lock()
		used[name] = map[string][]string{}
		for resource, actions := range r.actions {
			used[name][resource] = slices.Sorted(maps.Keys(actions))
		}
		r.mutex.Unlock()
	}
	wantFile(t, awsActions, used)
}

// publishOnLambda publishes to a broker that refuses some events at first.
func publishOnLambda(t *testing.T, env []string) {
	t.Helper()
	var accepted, refused atomic.Int64
	broker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if refused.Add(1) <= 2 {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		accepted.Add(1)
	}))
	t.Cleanup(broker.Close)
	projectOnLambda(t, append(env, "PUBLISH_URL="+broker.URL), func() error {
		if published := accepted.Load(); published <= delivered {
			return fmt.Errorf("%d events were accepted", published)
		}
		return nil
	})
}

const delivered = 50 // records

// projectOnLambda delivers some of the stream's records to the function. It finds what came before and after them in
// the journal, while it is called as a schedule does, until done returns nil.
func projectOnLambda(t *testing.T, env []string, done func() error) {
	t.Helper()
	env = append(env, "DATABASE_URL="+testenv.MySQL(t))
	runOnce(t, "migrate", env, "up")
	output := &testenv.Log{}
	function := lambdatest.NewService(t, &lambdatest.Service{
		Path: filepath.Join(binaries, "lambda-updater"), Timeout: time.Minute, Output: output, Env: env,
	}, 1)
	invoke := func(payload []byte) {
		t.Helper()
		if answer, err := function.Invoke(t.Context(), payload); err != nil || strings.Contains(string(answer), "itemIdentifier") {
			t.Fatalf("%s, %v\n%s", answer, err, output)
		}
	}
	records := lambdatest.Records(t.Context(), testenv.DynamoDBConfig(t), variable(env, "JOURNAL_TABLE"), 2*delivered)
	if len(records) < 2*delivered {
		t.Fatalf("the stream has %d records", len(records))
	}
	invoke(lambdatest.EventOf(records[delivered:]))
	testenv.Eventually(t, leavesWithin, func() error {
		invoke([]byte(`{"Records":[]}`)) // as a schedule does
		return done()
	})
}
