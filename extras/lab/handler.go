package lab

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	"example.com/threads/docs"
	"example.com/threads/infrastructure/asset"
	"example.com/threads/infrastructure/httpserver"
)

//go:embed lab.js
var files embed.FS

// state is shown on the page and set from it. A field that a request lacks stays unchanged.
type state struct {
	Paused     bool   `json:"paused"`
	Dead       bool   `json:"dead"`
	Delivery   string `json:"delivery"`
	BreakNext  bool   `json:"break_next"`  // make the next event unreadable
	Unreadable int    `json:"unreadable"`  // number of unreadable events; setting it to 0 repairs them
	DelayMS    int    `json:"delay_ms"`    // before each write
	LoseAnswer bool   `json:"lose_answer"` // of the next write
}

const (
	maxBody      = 4 << 10 // bytes
	longestDelay = 10_000  // ms
	secondWrites = 10      // messages that the second writer posts while the page posts as many through the write-api
)

// Handler serves the lab's requests from the page.
func (l *Lab) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /lab.js", asset.Load(files, "lab.js", "default-src 'none'"))
	mux.HandleFunc("GET /guarantees", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, docs.Guarantees)
	})
	mux.HandleFunc("GET /state", func(w http.ResponseWriter, _ *http.Request) { answer(w, l.now()) })
	mux.HandleFunc("POST /state", func(w http.ResponseWriter, r *http.Request) {
		wanted := l.now()
		if !decode(w, r, &wanted) {
			return
		}
		if _, known := deliveries[wanted.Delivery]; !known {
			httpserver.WriteProblem(w, http.StatusUnprocessableEntity, "invalid_request", "there is no delivery of this name")
			return
		}
		l.set(wanted)
		answer(w, l.now())
	})
	mux.HandleFunc("POST /second-writer", l.secondWriter)
	return mux
}

func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(into)
	if err != nil {
		httpserver.WriteProblem(w, http.StatusBadRequest, "malformed_request", "the body is not what is expected here")
	}
	return err == nil
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // fails only if the client has disconnected
}

// secondWriter posts to a thread through another write-api with its own cache and queues. Its writes make the decisions
// of the first one outdated.
func (l *Lab) secondWriter(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		ExecutorID string `json:"executor_id,omitempty"` // empty: it comes from the token
		ThreadID   string `json:"thread_id"`
		Text       string `json:"text"`
	}
	if !decode(w, r, &ask) {
		return
	}
	var posting sync.WaitGroup
	var mutex sync.Mutex
	versions, failures := []int{}, []string{}
	for i := range secondWrites {
		said := ask
		said.Text = fmt.Sprintf("from the second writer: %d", i+1)
		posting.Go(func() {
			version, err := l.post(r, said)
			mutex.Lock()
			defer mutex.Unlock()
			if err != nil {
				failures = append(failures, err.Error())
			} else {
				versions = append(versions, version)
			}
		})
	}
	posting.Wait()
	answer(w, map[string]any{"versions": versions, "failures": failures})
}

func (l *Lab) post(r *http.Request, body any) (version int, err error) {
	encoded, _ := json.Marshal(body) // strings always encode
	request, err := http.NewRequestWithContext(r.Context(), http.MethodPost, l.beside+"/threads/post_message", bytes.NewReader(encoded))
	if err != nil {
		return 0, err
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": r.Header["Authorization"]}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	var said struct {
		Version int    `json:"version"`
		Code    string `json:"code"`
	}
	err = json.NewDecoder(response.Body).Decode(&said)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s", response.Status, said.Code)
	}
	return said.Version, err
}
