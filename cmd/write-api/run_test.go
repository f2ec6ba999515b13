package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	esdynamodb "example.com/threads/es/dynamodb"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/programtest"
)

const create = `{"executor_id":"01H42K4ABWQ5V2XQEP3A48VE0Z","name":"x"}`

// start runs the program on a free port.
func start(t *testing.T, env map[string]string) *programtest.Running {
	t.Helper()
	env["WRITE_API_ADDR"] = "127.0.0.1:0"
	return programtest.Start(t, run, env)
}

func TestItServesAndStops(t *testing.T) {
	p := start(t, programtest.OnDynamoDB(t))
	for path, status := range map[string]int{
		"/": 200, "/docs": 200, "/openapi.json": 200, "/health/alive": 200, "/health/ready": 200, "/metrics": 200, "/nowhere": 404,
	} {
		if got := programtest.Get(t, p.URL+path); got.Status != status {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
	}
	created := programtest.Post(t, p.URL+"/threads/create", create, nil)
	if created.Status != http.StatusCreated || created.Header.Get("Consistency-Token") == "" {
		t.Errorf("%+v", created)
	}
	if measured := programtest.Get(t, p.URL+"/metrics"); !strings.Contains(measured.Body, `route="/threads/create",status="201"`) {
		t.Error("the command is not in the metrics")
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}

// A lost head must be reported to the client, in the log and in the metrics.
func TestAHeadThatIsLost(t *testing.T) {
	tables := programtest.OnDynamoDB(t)
	p := start(t, tables)
	created := programtest.Post(t, p.URL+"/threads/create", create, nil)
	id, _, _ := strings.Cut(created.Header.Get("Consistency-Token"), ":")
	client, snapshots := esdynamodb.NewClient(testenv.DynamoDBConfig(t)), aws.String(tables["SNAPSHOT_TABLE"])
	found, err := client.Scan(t.Context(), &dynamodb.ScanInput{
		TableName: snapshots, FilterExpression: aws.String("attribute_exists(aid)"), // a sequence has none
	})
	if err != nil || len(found.Items) != 1 {
		t.Fatalf("%d items, %v", len(found.Items), err)
	}
	key := map[string]types.AttributeValue{"pkey": found.Items[0]["pkey"], "skey": found.Items[0]["skey"]}
	if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: snapshots, Key: key}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/threads/post_message", "/threads/snapshot"} {
		body := fmt.Sprintf(`{"executor_id":"01H42K4ABWQ5V2XQEP3A48VE0Z","thread_id":%q`, id)
		if path == "/threads/post_message" {
			body += `,"text":"hello"`
		}
		answer := programtest.Post(t, p.URL+path, body+"}", nil)
		if answer.Status != http.StatusInternalServerError || !strings.Contains(answer.Body, `"store_inconsistent"`) {
			t.Errorf("%s: %d %s", path, answer.Status, answer.Body)
		}
	}
	measured := programtest.Get(t, p.URL+"/metrics").Body
	for _, line := range []string{"commands_inconsistent_total 2", "commands_conflicts_total ", "commands_given_up_total 0"} {
		if !strings.Contains(measured, line) {
			t.Errorf("the metrics do not say %q", line)
		}
	}
}

func TestEveryAnswerIsGuarded(t *testing.T) {
	p := start(t, programtest.OnDynamoDB(t))
	for _, path := range []string{"/", "/openapi.json", "/health/alive", "/health/ready", "/metrics", "/nowhere", "/threads/create"} {
		programtest.Get(t, p.URL+path).CheckGuarded(t, path)
	}
	for body, status := range map[string]int{create: http.StatusCreated, `{}`: http.StatusUnprocessableEntity, `{`: http.StatusBadRequest} {
		got := programtest.Post(t, p.URL+"/threads/create", body, nil)
		if got.Status != status {
			t.Errorf("%s: %d, want %d", body, got.Status, status)
		}
		got.CheckGuarded(t, body)
	}
	for _, method := range []string{http.MethodGet, http.MethodPut} {
		got := programtest.Ask(t, method, p.URL+"/threads/create", create, nil)
		if got.Status != http.StatusMethodNotAllowed || got.Header.Get("Allow") != http.MethodPost || !strings.Contains(got.Body, "method_not_allowed") {
			t.Errorf("%s: %+v", method, got)
		}
	}
	// The files of the page are cacheable, and revalidated.
	for _, path := range []string{"/docs", "/docs/docs.js", "/docs/swagger-ui-bundle.js"} {
		got := programtest.Get(t, p.URL+path)
		policy := got.Header.Get("Content-Security-Policy")
		if got.Status != http.StatusOK || got.Header.Get("X-Content-Type-Options") != "nosniff" ||
			got.Header.Get("Cache-Control") != "no-cache" || !strings.HasPrefix(policy, "default-src 'none'") {
			t.Errorf("%s: %d %v", path, got.Status, got.Header)
		}
	}
}

// TestAStopFinishesWhatWasAccepted stops the program after half of a request has arrived.
func TestAStopFinishesWhatWasAccepted(t *testing.T) {
	p := start(t, programtest.OnDynamoDB(t))
	address := strings.TrimPrefix(p.URL, "http://")
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	// The server asks for the body when the handler reads it: from then on the request is accepted.
	fmt.Fprintf(conn, "POST /threads/create HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(create))
	answers := bufio.NewReader(conn)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q %v", line, err)
	}
	_, _ = answers.ReadString('\n')
	p.BeginStop()
	testenv.Eventually(t, 5*time.Second, func() error {
		other, refused := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if refused == nil {
			_ = other.Close()
			return fmt.Errorf("%s still accepts connections", address)
		}
		return nil
	})
	fmt.Fprint(conn, create)
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		t.Errorf("answered %d", response.StatusCode)
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
}

// TestAStoreThatDoesNotAnswer replaces the store by a listener that accepts connections and sends nothing.
func TestAStoreThatDoesNotAnswer(t *testing.T) {
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }()
	programtest.UseDynamoDB(t, "http://"+silent.Addr().String())
	p := start(t, map[string]string{"STORE_TIMEOUT": "200ms"})
	if got := programtest.Get(t, p.URL+"/health/alive"); got.Status != http.StatusOK {
		t.Errorf("alive: %+v", got)
	}
	if got := programtest.Get(t, p.URL+"/health/ready"); got.Status != http.StatusServiceUnavailable || !strings.Contains(got.Body, `"store":"failed"`) {
		t.Errorf("ready: %+v", got)
	}
	got := programtest.Post(t, p.URL+"/threads/create", create, nil)
	if got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" || !strings.Contains(got.Body, `"store_unavailable"`) {
		t.Errorf("%+v", got)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}

func TestAnAddressInUse(t *testing.T) {
	p := start(t, programtest.OnDynamoDB(t))
	taken := strings.TrimPrefix(p.URL, "http://")
	env := map[string]string{"WRITE_API_ADDR": taken}
	err := run(t.Context(), nil, func(name string) string { return env[name] }, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "WRITE_API_ADDR") || !strings.Contains(err.Error(), taken) {
		t.Errorf("got %v", err)
	}
}

func TestAMissingRegion(t *testing.T) {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	err := run(t.Context(), nil, func(string) string { return "" }, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "AWS_REGION") {
		t.Errorf("got %v", err)
	}
}
