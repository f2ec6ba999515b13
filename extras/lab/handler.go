package lab

import (
	"embed"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"

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
	HoldMS     int    `json:"hold_ms"`     // before each batch of the projection
	LoseAnswer bool   `json:"lose_answer"` // of the next write
}

const (
	maxBody      = 4 << 10 // bytes
	longestDelay = 10_000  // ms
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
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&wanted); err != nil {
			httpserver.WriteProblem(w, http.StatusBadRequest, "malformed_request", "the body is not what is expected here")
			return
		}
		if _, known := deliveries[wanted.Delivery]; !known {
			httpserver.WriteProblem(w, http.StatusUnprocessableEntity, "invalid_request", "there is no delivery of this name")
			return
		}
		l.set(wanted)
		answer(w, l.now())
	})
	mux.Handle("POST /second-writer", l.secondWriter())
	return mux
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // fails only if the client has disconnected
}

// secondWriter posts to a thread through another write-api with its own cache and queues. Its writes make the decisions
// of the first one outdated.
func (l *Lab) secondWriter() http.Handler {
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL, _ = url.Parse(l.beside + "/threads/post_message") // the URL of a server of this process
		r.Out.Host = r.In.Host                                       // which is compared with the origin
	}}
}
