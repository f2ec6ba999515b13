package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
)

// wires lead from programs to their databases. While they are rough, they have faults that DynamoDB Local and MySQL do
// not show by themselves.
type wires struct {
	rough  atomic.Bool
	splits *splits

	mutex  sync.Mutex
	random *rand.Rand
	until  time.Time // of an outage
	met    map[string]int
}

func newWires(seed uint64) *wires {
	return &wires{splits: newSplits(), random: rand.New(rand.NewPCG(seed, 1)), met: map[string]int{}}
}

var mysqlAddress = regexp.MustCompile(`tcp\((.*?)\)`)

// through returns the environment of programs with wires to their databases.
func (w *wires) through(t *testing.T, env []string) []string {
	t.Helper()
	led := map[string]string{} // by address
	lead := func(to string, how func(*testing.T, string) string) string {
		if led[to] == "" {
			led[to] = how(t, to)
		}
		return led[to]
	}
	var through []string
	for _, setting := range env {
		name, value, _ := strings.Cut(setting, "=")
		switch {
		case strings.HasPrefix(name, "AWS_ENDPOINT_URL_"):
			value = lead(value, w.toDynamoDB)
		case name == "DATABASE_URL", name == "EVENT_STORE_URL":
			value = mysqlAddress.ReplaceAllStringFunc(value, func(found string) string {
				return "tcp(" + lead(mysqlAddress.FindStringSubmatch(found)[1], w.toMySQL) + ")"
			})
		}
		through = append(through, name+"="+value)
	}
	return through
}

// outage cuts all connections, and lets no other begin for so long.
func (w *wires) outage(length time.Duration) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.until = time.Now().Add(length)
	w.met["an outage"]++
}

// cut reports whether there is an outage.
func (w *wires) cut() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.rough.Load() && time.Now().Before(w.until)
}

// meets reports whether there is this fault now, which one in so many has.
func (w *wires) meets(fault string, oneIn int) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if !w.rough.Load() || w.random.IntN(oneIn) > 0 {
		return false
	}
	w.met[fault]++
	return true
}

// crawl holds some bytes up.
func (w *wires) crawl(oneIn int) {
	if w.meets("slow bytes", oneIn) {
		<-time.After(500 * time.Millisecond)
	}
}

var errLost = errors.New("the answer is lost")

func (w *wires) toDynamoDB(t *testing.T, endpoint string) string {
	t.Helper()
	target, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(target)
	pass.ModifyResponse = func(response *http.Response) error {
		w.crawl(100)
		if w.cut() || w.meets("a lost answer", 100) {
			return errLost
		}
		return changeAnswer(response)
	}
	pass.ErrorLog = log.New(io.Discard, "", 0)
	pass.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) } // cuts it
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil || w.cut() {
			panic(http.ErrAbortHandler)
		}
		_, action, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
		switch {
		case w.meets("throttling", 50):
			refuse(answer, http.StatusBadRequest, "ThrottlingException", nil)
			return
		case w.meets("an internal error", 100):
			refuse(answer, http.StatusInternalServerError, "InternalServerError", nil)
			return
		case action == "GetRecords" && w.meets("an expired iterator", 50):
			refuse(answer, http.StatusBadRequest, "ExpiredIteratorException", nil)
			return
		case action == "TransactWriteItems" && w.meets("a conflict", 20):
			refuse(answer, http.StatusBadRequest, "TransactionCanceledException", conflictOf(body))
			return
		case bytes.Contains(body, []byte(`"IndexName":"journal-aid-index"`)) && w.meets("an index that is behind", 2):
			request = changing(request, hideLatest)
		case action == "GetRecords" && w.meets("shards that end", 50):
			w.splits.split()
		}
		if strings.HasPrefix(request.Header.Get("X-Amz-Target"), "DynamoDBStreams") {
			var call said
			_ = json.Unmarshal(body, &call) // the SDK's calls are JSON
			if change := w.splits.ask(action, call); change != nil {
				request = changing(request, change)
			}
			body, _ = json.Marshal(call)
		}
		request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		pass.ServeHTTP(answer, request)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(server.Close)
	return server.URL
}

func refuse(w http.ResponseWriter, status int, kind string, reasons []map[string]string) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"__type": "com.amazonaws.dynamodb.v20120810#" + kind, "message": "on purpose", "CancellationReasons": reasons,
	}) // fails only if the program has gone
}

// conflictOf returns why a transaction is cancelled whose first item another one is changing.
func conflictOf(body []byte) []map[string]string {
	var asked struct{ TransactItems []any }
	_ = json.Unmarshal(body, &asked) // without items, there are no reasons
	var reasons []map[string]string
	for range asked.TransactItems {
		reasons = append(reasons, map[string]string{"Code": "None"})
	}
	if len(reasons) > 0 {
		reasons[0] = map[string]string{"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}
	}
	return reasons
}

func (w *wires) toMySQL(t *testing.T, address string) string {
	t.Helper()
	return testenv.Accept(t, func(client net.Conn) { w.lead(client, address) })
}

// lead passes on what client and server send until one of them ends, or a fault ends both.
func (w *wires) lead(client net.Conn, address string) {
	server, err := new(net.Dialer).Dial("tcp", address)
	if err != nil || w.cut() {
		_ = client.Close()
		return
	}
	var both sync.WaitGroup
	pass := func(to, from net.Conn, fault string) {
		defer func() { _ = errors.Join(to.Close(), from.Close()) }() // each ends the other
		buffer := make([]byte, 64<<10)
		for {
			n, err := from.Read(buffer)
			if w.crawl(500); err != nil || w.cut() || w.meets(fault, 300) {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
	both.Go(func() { pass(server, client, "a lost statement") })
	both.Go(func() { pass(client, server, "a lost result") })
	both.Wait()
}

// String lists the faults that were met.
func (w *wires) String() string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return strings.TrimPrefix(fmt.Sprint(w.met), "map")
}
