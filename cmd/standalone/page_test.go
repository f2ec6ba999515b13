// extra:whole

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/threads/es/database"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/rowstore"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
)

// The page's address must be the first one that a newcomer reads.
func TestTheBannerBeginsWithThePage(t *testing.T) {
	r := start(t, nil)
	said := r.said.String()
	if first, _, _ := strings.Cut(said[strings.Index(said, "http"):], " "); first != r.web {
		t.Errorf("the first address is %s, want %s, in\n%s", first, r.web, said)
	}
	if lines := strings.SplitN(said, "\n", 2); !strings.HasPrefix(lines[0], r.web) && !strings.HasPrefix(lines[0], "time=") {
		t.Errorf("the first line is %s", lines[0])
	}
}

func TestThePageIsGuarded(t *testing.T) {
	r := start(t, nil)
	for _, path := range []string{"/", "/app.js", "/app.css", "/icon.svg"} {
		got, err := send(t, http.MethodGet, r.web+path, "", []string{"Accept-Encoding", "identity"})
		if err != nil || got.status != http.StatusOK {
			t.Fatalf("%s: %d, %v", path, got.status, err)
		}
		policy := got.header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "script-src 'self'") || strings.Contains(policy, "unsafe") ||
			got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, got.header)
		}
		again, err := send(t, http.MethodGet, r.web+path, "", []string{"Accept-Encoding", "identity", "If-None-Match", got.header.Get("ETag")})
		if err != nil || again.status != http.StatusNotModified || again.raw != "" {
			t.Errorf("%s again: %d, %v", path, again.status, err)
		}
	}
}

// On the page's origin, both APIs must answer as at their own addresses.
func TestTheAPIsArePassedThrough(t *testing.T) {
	r := start(t, nil)
	direct := r.do(t, "", "/threads/create", map[string]any{"executor_id": ada, "name": ""})
	passed, err := send(t, http.MethodPost, r.web+"/api/write/threads/create", fmt.Sprintf(`{"executor_id":%q,"name":""}`, ada), nil)
	if err != nil || passed.status != direct.status || passed.raw != direct.raw {
		t.Errorf("got %d %s, %v; want %d %s", passed.status, passed.raw, err, direct.status, direct.raw)
	}
	for name, values := range passed.header {
		if len(values) != 1 || (len(direct.header[name]) != 1 && name != "Vary") {
			t.Errorf("%s is %q, and %q without the page", name, values, direct.header[name])
		}
	}

	created, err := send(t, http.MethodPost, r.web+"/api/write/threads/create", fmt.Sprintf(`{"executor_id":%q,"name":"tea"}`, ada), []string{"Cookie", "session=stolen"})
	if err != nil || created.status != http.StatusCreated || created.token() == "" {
		t.Fatalf("%d %s, %v", created.status, created.raw, err)
	}
	thread := created.text("thread_id")
	query := fmt.Sprintf(`{"query":"{ getThread(threadId: \"%s\", userAccountId: \"%s\") { name } }"}`, thread, ada)
	read, err := send(t, http.MethodPost, r.web+"/api/read/graphql", query, []string{"Consistency-Token", created.token()})
	if err != nil || !strings.Contains(read.raw, `"tea"`) {
		t.Errorf("%d %s, %v", read.status, read.raw, err)
	}

	subscription := fmt.Sprintf(`subscription { threadChanged(threadId: %q, userAccountId: %q) { version } }`, thread, ada)
	through := &running{read: r.web + "/api/read"}
	t.Run("WebSocket", func(t *testing.T) {
		conn, err := through.connect(t, nil, http.Header{"Origin": {r.web}})
		if err != nil {
			t.Fatal(err)
		}
		subscribe(t, conn, "1", subscription)
		if got, err := next(t, conn); err != nil || !strings.Contains(string(got.Payload), `"version":1`) {
			t.Errorf("%s %s, %v", got.Type, got.Payload, err)
		}
	})
	t.Run("event stream", func(t *testing.T) {
		var got string
		through.events(t, "", subscription, func(_, data string) bool { got = data; return false })
		if !strings.Contains(got, `"version":1`) {
			t.Errorf("the first event is %q", got)
		}
	})
}

func TestTheStatusOfThePrograms(t *testing.T) {
	r := start(t, nil)
	// The page asks each second, for two: a busy program has said nothing by then.
	testenv.Eventually(t, time.Minute, func() error {
		got, err := send(t, http.MethodGet, r.web+"/status", "", nil)
		if err != nil {
			return err
		}
		var said struct {
			Programs []struct {
				Name    string
				Up      bool
				Health  struct{ Status string }
				Figures map[string]float64
			}
		}
		if err := json.Unmarshal([]byte(got.raw), &said); err != nil {
			return err
		}
		if len(said.Programs) != 3 {
			return fmt.Errorf("these programs: %s", got.raw)
		}
		for _, program := range said.Programs {
			if !program.Up || program.Health.Status != "ready" || len(program.Figures) == 0 {
				return fmt.Errorf("%+v", program)
			}
		}
		return nil
	})
}

// With the scope threads:operate, and only with it, parked aggregates are listed, and rows verified and rebuilt.
func TestWhoMayOperate(t *testing.T) {
	i := newIssuer(t)
	folder := t.TempDir()
	r := start(t, i.trusted("DATA_DIR", folder))
	operator := i.token(t, ada, "", "threads:operate")
	for about, c := range map[string]struct {
		token, body string
		status      int
		code        string
	}{
		"nobody":        {"", "{}", http.StatusUnauthorized, "unauthenticated"},
		"a reader":      {i.token(t, ada, "", "threads:read threads:write"), "{}", http.StatusForbidden, "forbidden"},
		"an operator":   {operator, "{}", http.StatusOK, ""},
		"a wrong field": {operator, `{"all":true}`, http.StatusBadRequest, "malformed_request"},
		"two bodies":    {operator, `{}{"repair":true}`, http.StatusBadRequest, "malformed_request"},
	} {
		got, err := send(t, http.MethodPost, r.web+"/api/operate/rows/verify", c.body, authorization(c.token))
		if err != nil || got.status != c.status || got.code() != c.code {
			t.Errorf("%s: %d %s, %v", about, got.status, got.raw, err)
		}
	}
	// What others write is told to nobody else either, whatever they name.
	for _, path := range []string{"/events", "/journal", "/journal?aid=thread-01ARZ3NDEKTSV4RRFFQ69G5FAV"} {
		for token, want := range map[string]int{"": http.StatusUnauthorized, i.token(t, ada, "", "threads:read threads:write"): http.StatusForbidden} {
			if got, err := send(t, http.MethodGet, r.web+"/api/operate"+path, "", authorization(token)); err != nil || got.status != want {
				t.Errorf("%s: %d %s, %v; want %d", path, got.status, got.raw, err, want)
			}
		}
	}
	for _, asked := range []struct {
		path, body string
		status     int
	}{
		{"/dead-letters/retry", `{"projection":"threads","tenant":"","aid":"thread-01ARZ3NDEKTSV4RRFFQ69G5FAV"}`, http.StatusConflict},
		{"/dead-letters/retry", `{"projection":"お茶","tenant":"","aid":"thread-01ARZ3NDEKTSV4RRFFQ69G5FAV"}`, http.StatusUnprocessableEntity},
		{"/dead-letters/skip", `{"projection":"threads","tenant":"","aid":"thread-01ARZ3NDEKTSV4RRFFQ69G5FAV"}`, http.StatusUnprocessableEntity},
		{"/rows/rebuild", `{}`, http.StatusOK},
	} {
		if got, err := send(t, http.MethodPost, r.web+"/api/operate"+asked.path, asked.body, authorization(operator)); err != nil || got.status != asked.status {
			t.Errorf("%s of %s: %d %s, %v; want %d", asked.path, asked.body, got.status, got.raw, err, asked.status)
		}
	}
	if got, err := send(t, http.MethodGet, r.web+"/api/operate/dead-letters", "", authorization(operator)); err != nil || strings.TrimSpace(got.raw) != `{"parked":[]}` {
		t.Errorf("the parked aggregates: %s, %v", got.raw, err)
	}
	db, err := database.Open(t.Context(), "sqlite:"+filepath.Join(folder, "readmodel.db"), database.Settings{Rebuildable: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	store, err := rowstore.New(db, chatrows.Projection)
	if err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, 20*time.Second, func() error {
		state, err := store.RebuildState(t.Context())
		if err == nil && state.DoneAt().IsZero() {
			err = fmt.Errorf("the rows have not been rebuilt: %s", state.Phase)
		}
		return err
	})
}

// Without LAB=on there is no lab, and a program without the build tag must not contain it.
func TestThereIsNoLabUnlessAskedFor(t *testing.T) {
	r := start(t, nil)
	for _, path := range []string{"/lab/state", "/lab/lab.js", "/lab/experiments.js"} {
		if got, err := send(t, http.MethodGet, r.web+path, "", nil); err != nil || got.status != http.StatusNotFound {
			t.Errorf("%s: %d, %v", path, got.status, err)
		}
	}
	for tags, contained := range map[string]bool{"lab": true, "": false} {
		packages, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", tags, ".").Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"extras/lab", "es/estest/faulty"} {
			if strings.Contains(string(packages), "example.com/threads/"+name+"\n") != contained {
				t.Errorf("with the tags %q, %s is contained: %t", tags, name, !contained)
			}
		}
	}
}
