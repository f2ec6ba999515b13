// Package lab injects faults into the running system so that people can see how it keeps its promises. It stands
// between the projection and its source and kills the projection ([Lab.Faults]), delays the event store ([Lab.Gateway])
// and writes through a second writer. Tests inject the same faults with es/estest/faulty.
//
// Only a standalone that is built with the tag lab (make run does so) contains this package. Only LAB=on activates it.
package lab

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"example.com/threads/docs"
	"example.com/threads/es"
	"example.com/threads/es/estest/faulty"
	"example.com/threads/es/projection"
	"example.com/threads/es/run"
	"example.com/threads/infrastructure/asset"
	"example.com/threads/infrastructure/httpserver"
)

const (
	maxBody                = 4 << 10               // bytes
	longestDelay           = 10_000                // ms
	lookEvery              = 10 * time.Millisecond // at a condition
	holdLease              = 10 * time.Second      // for a hold; a page renews it until it is closed
	mostSeeds, seedsAtOnce = 1000, 64              // messages of one request
)

// deliveries are the faults of the source by their names on the page.
var deliveries = map[string]faulty.Delivery{
	"":          {},
	"twice":     {Doubled: 100},
	"reordered": {Moved: 10},
	"lost":      {Lost: 50},
	"none":      {Lost: 100},
	"broken":    {Broken: 100},
}

// Lab holds the faults that are active. Use [New].
type Lab struct {
	mutex  sync.Mutex
	state  faults
	held   time.Time // until when batches and rebuilds are held
	broken faulty.Broken
	life   context.Context
	kill   context.CancelFunc // ends life
	turn   context.Context    // of the projection
	random *rand.Rand
}

// New returns a lab without active faults.
func New() *Lab {
	l := &Lab{random: rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))} // no secrets
	l.life, l.kill = context.WithCancel(context.Background())
	return l
}

func (l *Lab) now() faults {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	now := l.state
	now.Unreadable, now.HoldMS, now.ReplayMS = l.broken.Count(), l.leased(now.HoldMS), l.leased(now.ReplayMS)
	return now
}

// leased returns a hold, in milliseconds, while its lease lasts, and then 0. The caller holds the mutex.
func (l *Lab) leased(ms int) int {
	if time.Now().After(l.held) {
		return 0
	}
	return ms
}

func (l *Lab) set(wanted faults) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if wanted.Unreadable == 0 {
		l.broken.Mend()
	}
	if wanted.Dead {
		l.kill()
	} else if l.state.Dead {
		l.life, l.kill = context.WithCancel(context.Background())
	}
	for _, ms := range []*int{&wanted.DelayMS, &wanted.HoldMS, &wanted.ReplayMS} {
		*ms = min(max(*ms, 0), longestDelay)
	}
	l.state, l.held = wanted, time.Now().Add(holdLease)
}

// await returns when the condition is true, or with ctx's error.
func (l *Lab) await(ctx context.Context, condition func() bool) error {
	holds := func() bool {
		l.mutex.Lock()
		defer l.mutex.Unlock()
		return condition()
	}
	for !holds() && ctx.Err() == nil {
		_ = es.Wait(ctx, lookEvery) // an error is ctx's
	}
	return ctx.Err()
}

// Faults are what the lab does to the projection.
func (l *Lab) Faults() run.Faults {
	return run.Faults{Turn: l.beginTurn, Projector: l.wrap, Journal: l.broken.Journal, Rebuild: func(j es.Journal) es.Journal { return slowJournal{j, l} }}
}

// beginTurn waits until a killed projection is started again. A kill ends the turn: it rolls back the projection's
// transaction and stops the updater's other work cleanly. The next turn starts with nothing in memory.
func (l *Lab) beginTurn(ctx context.Context) (turn context.Context, err error) {
	turn, end := context.WithCancel(ctx)
	return turn, l.await(ctx, func() bool {
		if l.state.Dead {
			return false
		}
		l.turn = turn
		context.AfterFunc(l.life, end)
		return true
	})
}

// Gateway wraps the write-api's event store: its answers may be delayed or lost.
func (l *Lab) Gateway(store es.Store) es.Store { return faultyStore{store, l} }

type faultyStore struct {
	es.Store
	lab *Lab
}

func (s faultyStore) Append(ctx context.Context, write es.Append) error {
	s.lab.mutex.Lock()
	late, lose := faulty.Late(time.Duration(s.lab.state.DelayMS)*time.Millisecond), s.lab.state.LoseAnswer
	s.lab.state.LoseAnswer = false
	s.lab.mutex.Unlock()
	send := func(ctx context.Context) error { return s.Store.Append(ctx, write) }
	return late(ctx, func(ctx context.Context) error {
		if lose {
			return faulty.LoseAnswer(ctx, send)
		}
		return send(ctx)
	})
}

func (l *Lab) wrap(behind projection.Sink) projection.Sink {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return projector{behind, l, l.turn, l.life}
}

type projector struct {
	projection.Sink
	lab        *Lab
	turn, life context.Context
}

// Project passes a batch on with the active faults. A kill cancels it, and rolls its transaction back.
func (p projector) Project(ctx context.Context, batch projection.Batch) (projection.Outcome, error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	defer context.AfterFunc(p.life, end)()
	// A batch in progress may outlive the turn for a while. A delayed batch must not.
	held, letGo := context.WithCancel(ctx)
	defer letGo()
	defer context.AfterFunc(p.turn, letGo)()
	arrived := time.Now()
	free := func() bool {
		return !p.lab.state.Paused && time.Since(arrived) >= time.Duration(p.lab.leased(p.lab.state.HoldMS))*time.Millisecond
	}
	if err := p.lab.await(held, free); err != nil {
		return projection.Outcome{}, err
	}
	batch.Records = p.lab.deliver(batch.Records)
	return p.Sink.Project(ctx, batch)
}

func (l *Lab) deliver(records []projection.Record) []projection.Record {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.state.BreakNext && len(records) > 0 {
		l.state.BreakNext = false
		l.broken.Break(records[0].Key, records[0].SeqNr)
	}
	delivered := deliveries[l.state.Delivery].Deliver(records, l.random)
	for i, record := range delivered {
		delivered[i] = l.broken.Read(record)
	}
	return delivered
}

type slowJournal struct {
	es.Journal
	lab *Lab
}

// ReadJournal yields the events in parts, with a hold after each, if there is one.
func (s slowJournal) ReadJournal(ctx context.Context, part, parts int, after string) iter.Seq2[es.JournalPage, error] {
	return func(yield func(es.JournalPage, error) bool) {
		for page, err := range s.Journal.ReadJournal(ctx, part, parts, after) {
			for more := true; more; {
				next, now := page, s.lab.now()
				part := max(1, now.ReplayEvents)
				if more = now.ReplayMS > 0 && len(page.Entries) > part; more {
					next = es.JournalPage{Entries: page.Entries[:part], Next: after}
					page.Entries = page.Entries[part:]
				}
				if !yield(next, err) {
					return
				}
				_ = es.Wait(ctx, time.Duration(now.ReplayMS)*time.Millisecond) // the next read meets an error of ctx
			}
			after = page.Next
		}
	}
}

// newRows are the rows of a thread in the tables that a rebuild fills beside the live ones.
type newRows struct {
	Made     bool     `json:"made"`     // there are such tables
	Version  uint64   `json:"version"`  // of the thread's row; 0: there is none yet
	Members  []string `json:"members"`  // their accounts
	Messages []string `json:"messages"` // the ids of the last ones
	Count    int      `json:"count"`    // of all messages
}

// readNewRows reads the rows of one moment, and only keys and numbers: what they say is not for everybody who may use
// the lab.
func readNewRows(ctx context.Context, db *sqlx.DB, thread string) newRows {
	none := newRows{Members: []string{}, Messages: []string{}}
	rows, err := db.BeginTxx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return none
	}
	defer func() { _ = rows.Rollback() }()
	found := newRows{Made: true, Members: []string{}, Messages: []string{}}
	err = errors.Join(
		rows.GetContext(ctx, &found.Version, "SELECT COALESCE(MAX(version), 0) FROM threads_next WHERE id = ?", thread),
		rows.SelectContext(ctx, &found.Members, "SELECT user_account_id FROM members_next WHERE thread_id = ? AND removed = 0", thread),
		rows.SelectContext(ctx, &found.Messages, "SELECT id FROM messages_next WHERE thread_id = ? AND deleted = 0 ORDER BY id DESC LIMIT 50", thread),
		rows.GetContext(ctx, &found.Count, "SELECT COUNT(*) FROM messages_next WHERE thread_id = ? AND deleted = 0", thread),
	)
	if err != nil {
		return none // usually because there are no such tables
	}
	return found
}

// seed is an order for many messages.
type seed struct {
	Message map[string]string `json:"message"` // as a write-api takes it, without the text
	First   int               `json:"first"`   // the number in the text of the first one
	Count   int               `json:"count"`
}

// post sends the messages to a write-api, many at a time: those for one thread share transactions.
func (s seed) post(ctx context.Context, url, authorization string) error {
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: seedsAtOnce}}
	defer client.CloseIdleConnections()
	posting, ctx := errgroup.WithContext(ctx)
	posting.SetLimit(seedsAtOnce)
	for n := range min(s.Count, mostSeeds) {
		posting.Go(func() error {
			message := map[string]string{"text": fmt.Sprintf("message %d of the lab", s.First+n)}
			maps.Copy(message, s.Message)
			body, _ := json.Marshal(message) // it can be marshalled
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
			if err != nil {
				return err
			}
			request.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {authorization}}
			response, err := client.Do(request)
			if err != nil {
				return err
			}
			_, _ = io.Copy(io.Discard, response.Body) // or the connection is not used again
			_ = response.Body.Close()
			if response.StatusCode != http.StatusOK {
				return fmt.Errorf("the write-api answers %s", response.Status)
			}
			return nil
		})
	}
	return posting.Wait()
}

//go:embed lab.js experiments.js
var files embed.FS

// faults are shown on the page and set from it. A field that a request lacks stays unchanged.
type faults struct {
	Paused       bool   `json:"paused"`
	Dead         bool   `json:"dead"`
	Delivery     string `json:"delivery"`
	BreakNext    bool   `json:"break_next"`    // make the next event unreadable
	Unreadable   int    `json:"unreadable"`    // number of unreadable events; setting it to 0 repairs them
	DelayMS      int    `json:"delay_ms"`      // before each write
	HoldMS       int    `json:"hold_ms"`       // before each batch of the projection
	ReplayMS     int    `json:"replay_ms"`     // after each part of a rebuild
	ReplayEvents int    `json:"replay_events"` // in a part; 0: one
	LoseAnswer   bool   `json:"lose_answer"`   // of the next write
}

// Handler serves the page's requests. beside is the URL of another write-api on the same store. rows is the read model.
func (l *Lab) Handler(beside string, rows *sqlx.DB) http.Handler {
	mux := http.NewServeMux()
	for _, script := range []string{"lab.js", "experiments.js"} {
		mux.Handle("GET /"+script, asset.Load(files, script, "default-src 'none'"))
	}
	mux.HandleFunc("GET /guarantees", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, docs.Guarantees)
	})
	state := func(w http.ResponseWriter, r *http.Request) {
		wanted := l.now()
		if r.Method == http.MethodPost {
			if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&wanted); err != nil {
				httpserver.WriteProblem(w, http.StatusBadRequest, "malformed_request", "the body is not what is expected here")
				return
			}
			if _, known := deliveries[wanted.Delivery]; !known {
				httpserver.WriteProblem(w, http.StatusUnprocessableEntity, "invalid_request", "there is no delivery of this name")
				return
			}
			l.set(wanted)
		}
		httpserver.WriteJSON(w, http.StatusOK, l.now())
	}
	mux.HandleFunc("GET /state", state)
	mux.HandleFunc("POST /state", state)
	mux.HandleFunc("GET /new-rows", func(w http.ResponseWriter, r *http.Request) {
		httpserver.WriteJSON(w, http.StatusOK, readNewRows(r.Context(), rows, r.URL.Query().Get("thread")))
	})
	mux.HandleFunc("POST /seed", func(w http.ResponseWriter, r *http.Request) {
		var wanted seed
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&wanted)
		if err == nil {
			err = wanted.post(r.Context(), beside+"/threads/post_message", r.Header.Get("Authorization"))
		}
		if err != nil {
			httpserver.WriteProblem(w, http.StatusUnprocessableEntity, "not_seeded", err.Error())
			return
		}
		httpserver.WriteJSON(w, http.StatusOK, wanted)
	})
	// Another write-api posts to a thread, with its own cache, which makes the decisions of the first one outdated.
	mux.Handle("POST /second-writer", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL, _ = url.Parse(beside + "/threads/post_message") // the URL of a server of this process
		r.Out.Host = r.In.Host                                     // which is compared with the origin
	}})
	return mux
}

// Describe calls describe with the lab's routes in JSON, and with values of the types of body and answer.
func Describe(describe func(pattern string, body, answer any)) {
	describe("GET /lab/state", nil, faults{})
	describe("POST /lab/state", faults{}, faults{})
	describe("GET /lab/new-rows", nil, newRows{})
	describe("POST /lab/seed", seed{}, seed{})
}
