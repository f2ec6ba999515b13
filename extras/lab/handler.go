package lab

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"example.com/threads/docs"
	"example.com/threads/infrastructure/asset"
	"example.com/threads/infrastructure/httpserver"
)

//go:embed lab.js
var script []byte

// state is shown on the page and set from it. A missing field stays unchanged.
type state struct {
	Paused     *bool   `json:"paused"`
	Dead       *bool   `json:"dead"`
	Delivery   *string `json:"delivery"`
	BreakNext  *bool   `json:"break_next"`
	Unreadable *int    `json:"unreadable"` // number of unreadable events; setting it to 0 repairs them
	DelayMS    *int    `json:"delay_ms"`
	LoseAnswer *bool   `json:"lose_answer"`
}

const maxBody = 4 << 10 // bytes

// Handler serves the lab's requests from the page.
func (l *Lab) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /lab.js", asset.New(script, asset.Pack(script), "text/javascript; charset=utf-8", "default-src 'none'"))
	mux.HandleFunc("GET /guarantees", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, docs.Guarantees)
	})
	mux.HandleFunc("GET /tests/{name}", showTest)
	mux.HandleFunc("GET /state", func(w http.ResponseWriter, _ *http.Request) { l.tell(w) })
	mux.HandleFunc("POST /state", func(w http.ResponseWriter, r *http.Request) {
		var wanted state
		if decode(w, r, &wanted) && l.set(w, wanted) {
			l.tell(w)
		}
	})
	mux.HandleFunc("POST /second-writer", l.secondWriter)
	return mux
}

func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(into); err != nil {
		httpserver.WriteProblem(w, http.StatusBadRequest, "malformed_request", "the body is not what is expected here")
		return false
	}
	return true
}

func (l *Lab) tell(w http.ResponseWriter) {
	l.mutex.Lock()
	dead, unreadable, delay := l.life.Err() != nil, l.broken.Count(), int(l.delay.Milliseconds())
	now := state{&l.paused, &dead, &l.delivery, &l.breakNext, &unreadable, &delay, &l.loseAnswer}
	text, _ := json.Marshal(now) // plain values always encode
	l.mutex.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}

const longestDelay = 10_000 // ms

func (l *Lab) set(w http.ResponseWriter, wanted state) bool {
	if wanted.Delivery != nil {
		if _, known := deliveries[*wanted.Delivery]; !known {
			httpserver.WriteProblem(w, http.StatusUnprocessableEntity, "invalid_request", "there is no delivery of this name")
			return false
		}
	}
	l.change(func() {
		assign(&l.paused, wanted.Paused)
		assign(&l.delivery, wanted.Delivery)
		assign(&l.breakNext, wanted.BreakNext)
		assign(&l.loseAnswer, wanted.LoseAnswer)
		if wanted.Unreadable != nil && *wanted.Unreadable == 0 {
			l.broken.Mend()
		}
		if wanted.DelayMS != nil {
			l.delay = time.Duration(min(max(*wanted.DelayMS, 0), longestDelay)) * time.Millisecond
		}
		switch dead := l.life.Err() != nil; {
		case wanted.Dead == nil || *wanted.Dead == dead:
		case dead:
			l.life, l.kill = context.WithCancelCause(context.Background())
		default:
			l.kill(errKilled)
		}
	})
	return true
}

func assign[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// The number of messages that the second writer posts while the page posts as many through the write-api.
const secondWrites = 10

// secondWriter posts to a thread through another write-api with its own cache and queues. Its writes make the decisions
// of the first one outdated.
func (l *Lab) secondWriter(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		ExecutorID string `json:"executor_id"`
		ThreadID   string `json:"thread_id"`
	}
	if !decode(w, r, &ask) {
		return
	}
	var posting sync.WaitGroup
	var mutex sync.Mutex
	versions, failures := []int{}, []string{}
	for i := range secondWrites {
		posting.Go(func() {
			body := map[string]string{"thread_id": ask.ThreadID, "executor_id": ask.ExecutorID, "text": fmt.Sprintf("from the second writer: %d", i+1)}
			version, failure := l.post(r, body)
			mutex.Lock()
			defer mutex.Unlock()
			if failure != "" {
				failures = append(failures, failure)
			} else {
				versions = append(versions, version)
			}
		})
	}
	posting.Wait()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"versions": versions, "failures": failures})
}

func (l *Lab) post(r *http.Request, body map[string]string) (version int, failure string) {
	if body["executor_id"] == "" {
		delete(body, "executor_id") // the executor comes from the token
	}
	encoded, _ := json.Marshal(body) // strings always encode
	request, err := http.NewRequestWithContext(r.Context(), http.MethodPost, l.beside+"/threads/post_message", bytes.NewReader(encoded))
	if err != nil {
		return 0, err.Error()
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header["Authorization"] = r.Header["Authorization"]
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Version int    `json:"version"`
		Code    string `json:"code"`
	}
	err = json.NewDecoder(response.Body).Decode(&answer)
	if err != nil || response.StatusCode != http.StatusOK {
		return 0, fmt.Sprintf("%s %s", response.Status, answer.Code)
	}
	return answer.Version, ""
}
