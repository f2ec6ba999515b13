package clients

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/programs"
)

// The README's commands show DynamoDB's tables in a browser, and the events of a thread.
func TestTheReadmesLinesLookIntoTheTables(t *testing.T) {
	if nodeVersion(t) < 20 {
		t.Skip("left out: dynamodb-admin needs Node 20")
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```sh\n(export AWS_REGION.*?)(\nDYNAMO_ENDPOINT.*?)(\nAWS_ENDPOINT.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("the README has no such commands")
	}
	env := []string{
		"EVENT_STORE=dynamodb", "AWS_ENDPOINT_URL_DYNAMODB=" + testenv.DynamoDB(t), "AWS_REGION=" + testenv.Region,
		"AWS_ACCESS_KEY_ID=" + testenv.AccessKeyID(t), "AWS_SECRET_ACCESS_KEY=" + testenv.SecretAccessKey, "LOG_LEVEL=warn",
	}
	runScript(t, env, nil, binaries+"/dynamodb-setup")
	write := programs.New(t, binaries, "write-api", env, "WRITE_API_ADDR")
	write.Start(t)

	const create = `thread=$(curl -sf $WRITE_API_URL/threads/create -H 'Content-Type: application/json' \
		-d '{"executor_id":"01ARZ3NDEKTSV4RRFFQ69G5FAV","name":"tea"}' | sed 's/.*"thread_id":"\([^"]*\)".*/\1/')
`
	page := fmt.Sprint(testenv.FreePort(t))
	script := exec.CommandContext(t.Context(), "bash", "-euc", strings.NewReplacer(
		"http://127.0.0.1:28000", testenv.DynamoDB(t), "28001", page, "=local ", "="+testenv.AccessKeyID(t)+" ",
		"go run ./cmd/", binaries+"/",
	).Replace(create+string(block[1])+string(block[2])+" >&2 &"+string(block[3]))+
		"curl -sS --retry 120 --retry-delay 1 --retry-connrefused http://127.0.0.1:"+page)
	script.Env = append(os.Environ(), "WRITE_API_URL="+write.URLs[0])
	script.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	script.Cancel = func() error { return syscall.Kill(-script.Process.Pid, syscall.SIGTERM) }
	script.Stderr, script.WaitDelay = os.Stderr, time.Second
	said, err := script.Output()
	_ = syscall.Kill(-script.Process.Pid, syscall.SIGTERM) // what it left in the background
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, want := range []string{"ThreadCreated", "/tables/journal", "/tables/snapshot"} {
		if !strings.Contains(string(said), want) {
			t.Errorf("it does not show %s:\n%s", want, said)
		}
	}
}
