package limits

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/programs"
)

const (
	ada      = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	clients  = 12
	messages = 500
	lists    = 13
	text     = 3900    // characters of a message
	most     = 650_000 // KiB of memory; the program needs 460,000, and without limits 900,000
)

// Twelve clients request 25 MB each and do not read the answers.
func TestClientsThatDoNotReceiveTheirAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	folder := t.TempDir()
	if err := programs.Build(folder, "../../cmd/standalone"); err != nil {
		t.Fatal(err)
	}
	program := programs.New(t, folder, "standalone", []string{
		"DATA_DIR=" + filepath.Join(folder, "data"),
		"GOGC=25", // memory that is in use counts here, not garbage
	}, "WRITE_API_ADDR", "READ_API_ADDR", "UPDATER_ADDR", "WEB_ADDR")
	program.Start(t)
	write, read := program.URLs[0], program.URLs[1]

	created := post(t, write+"/threads/create", map[string]any{"executor_id": ada, "name": "long"})
	thread, _ := created["thread_id"].(string)
	var group errgroup.Group
	group.SetLimit(16)
	for range messages {
		group.Go(func() error {
			post(t, write+"/threads/post_message", map[string]any{"executor_id": ada, "thread_id": thread, "text": strings.Repeat("x", text)})
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	query := "{"
	for list := range lists {
		query += fmt.Sprintf(` l%d: getMessages(threadId: "%s", userAccountId: "%s", first: %d) { text }`, list, thread, ada, messages)
	}
	body, err := json.Marshal(map[string]string{"query": query + "}"})
	if err != nil {
		t.Fatal(err)
	}
	caughtUp := func() error {
		response, err := http.Post(read+"/graphql", "application/json", bytes.NewReader(body)) //nolint:noctx // the test's own
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		size, err := io.Copy(io.Discard, response.Body)
		if err == nil && size < messages*lists*text {
			err = fmt.Errorf("the answer has only %d bytes", size)
		}
		return err
	}
	testenv.Eventually(t, time.Minute, caughtUp)

	request := fmt.Sprintf("POST /graphql HTTP/1.1\r\nHost: threads\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	for range clients {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(read, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
	}
	// After these clients are disconnected, all others must be answered again.
	testenv.Eventually(t, time.Minute, caughtUp)
	peak := peakMemory(t, program.PID(t))
	t.Logf("at most %d KiB", peak)
	if peak > most {
		t.Errorf("the program used %d KiB, more than %d", peak, most)
	}
}

func post(t *testing.T, url string, body map[string]any) map[string]any {
	t.Helper()
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Error(err)
		return nil
	}
	response, err := http.Post(url, "application/json", bytes.NewReader(encoded)) //nolint:noctx // the test's own
	if err != nil {
		t.Error(err)
		return nil
	}
	defer func() { _ = response.Body.Close() }()
	var answer map[string]any
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode >= 300 {
		t.Errorf("%s: %s %v, %v", url, response.Status, answer, err)
	}
	return answer
}

// peakMemory returns the peak memory of a process in KiB.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatalf("no VmHWM in %s", status)
	}
	peak, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return peak
}
