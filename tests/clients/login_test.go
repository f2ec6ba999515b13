package clients

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/tests/programs"
)

// browser acts as a browser during the login: it follows redirects and stores cookies.
type browser struct {
	t      *testing.T
	client *http.Client
	page   string
}

// shown is the final page after redirects.
type shown struct {
	status    int
	url, body string
}

// send submits a form; with a nil form, it sends a GET request.
func (b browser) send(address string, form url.Values) shown {
	b.t.Helper()
	method, text := http.MethodGet, ""
	if form != nil {
		method, text = http.MethodPost, form.Encode()
	}
	request, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(text))
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := b.client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return shown{answer.StatusCode, answer.Request.URL.String(), string(read)}
}

func (b browser) session() map[string]any {
	b.t.Helper()
	var said map[string]any
	if err := json.Unmarshal([]byte(b.send(b.page+"/session", nil).body), &said); err != nil {
		b.t.Fatal(err)
	}
	return said
}

var action = regexp.MustCompile(`action="([^"]+)"`)

// submit fills in and submits the provider's form.
func (b browser) submit(form shown, fields url.Values) shown {
	b.t.Helper()
	found := action.FindStringSubmatch(form.body)
	if found == nil {
		b.t.Fatalf("there is no form in %s", form.body)
	}
	return b.send(found[1], fields)
}

// follow opens a WebSocket, which is authenticated by the session's token.
func (b browser) follow() *websocket.Conn {
	b.t.Helper()
	conn, _, err := websocket.Dial(b.t.Context(), b.page+"/api/read/graphql", &websocket.DialOptions{ //nolint:bodyclose // of an upgrade
		HTTPClient: b.client, HTTPHeader: http.Header{"Origin": {b.page}}, Subprotocols: []string{"graphql-transport-ws"},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = conn.CloseNow() })
	if err := wsjson.Write(b.t.Context(), conn, map[string]string{"type": "connection_init"}); err != nil {
		b.t.Fatal(err)
	}
	if _, raw, err := conn.Read(b.t.Context()); err != nil || !strings.Contains(string(raw), "connection_ack") {
		b.t.Fatalf("the WebSocket answered %s, %v", raw, err)
	}
	return conn
}

// A user logs in on the page at a third-party provider. The token must stay in the program: the browser gets a cookie
// that scripts can't read, and commands need the session's CSRF token.
func TestLoginOnThePage(t *testing.T) {
	installNode(t)
	address := fmt.Sprintf("127.0.0.1:%d", testenv.FreePort(t))
	home := "http://" + address
	const audience = "urn:threads"
	p := startProvider(t, "REDIRECT_URI="+home+"/login/callback")
	access := []string{"AUTH=oidc", "AUTH_ISSUER=" + p.issuer, "AUTH_AUDIENCE=" + audience}
	s := startWith(t, access...)
	web := programs.New(t, binaries, "web", append(access, "LOG_LEVEL=warn", "WEB_ADDR="+address, "WEB_URL="+home, "WEB_CLIENT_ID=page",
		"WRITE_API_URL="+s.write.URLs[0], "READ_API_URL="+s.read.URLs[0], "UPDATER_URL="+s.updater.URLs[0]))
	web.URLs = []string{home}
	web.Start(t)

	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := browser{t, &http.Client{Jar: jar, Timeout: 20 * time.Second}, home}
	if said := b.session(); said["account"] != nil {
		t.Fatalf("before the login: %v", said)
	}
	consent := b.submit(b.send(home+"/login", nil), url.Values{"prompt": {"login"}, "login": {"ada"}, "password": {"any"}})
	if end := b.submit(consent, url.Values{"prompt": {"consent"}}); end.url != home+"/" || end.status != http.StatusOK {
		t.Fatalf("the login ended at %s with %d", end.url, end.status)
	}
	said := b.session()
	csrf, _ := said["csrf"].(string)
	if said["account"] != "01ARZ3NDEKTSV4RRFFQ69G5FAV" || csrf == "" || strings.Contains(fmt.Sprint(said), "eyJ") {
		t.Fatalf("after the login: %v", said)
	}

	create := func(headers ...string) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, home+"/api/write/threads/create", strings.NewReader(`{"name":"tea"}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			request.Header.Set(headers[i], headers[i+1])
		}
		response, err := b.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	if status := create("X-CSRF-Token", csrf); status != http.StatusCreated {
		t.Errorf("a command: %d", status)
	}
	if status := create(); status != http.StatusForbidden {
		t.Errorf("a command without the CSRF token: %d", status)
	}
	if status := create("X-CSRF-Token", csrf, "Origin", "https://evil.example.com", "Sec-Fetch-Site", "cross-site"); status != http.StatusForbidden {
		t.Errorf("a command of another origin: %d", status)
	}
	follow := b.follow()
	// An authorization code that this browser did not request must be refused.
	if got := b.send(home+"/login/callback?code=stolen&state=guessed", nil); got.status != http.StatusBadRequest {
		t.Errorf("a foreign code: %d", got.status)
	}
	if got := b.send(home+"/logout", url.Values{"csrf": {"wrong"}}); got.status != http.StatusForbidden {
		t.Errorf("a logout without the CSRF token: %d", got.status)
	}
	b.send(home+"/logout", url.Values{"csrf": {csrf}})
	if said := b.session(); said["account"] != nil {
		t.Errorf("after the logout: %v", said)
	}
	if status := create("X-CSRF-Token", csrf); status != http.StatusUnauthorized {
		t.Errorf("a command after the logout: %d", status)
	}
	// The program must stop even while a WebSocket is open.
	web.Stop(t)
	if _, _, err := follow.Read(t.Context()); err == nil {
		t.Error("the WebSocket is open after the stop")
	}
	at, err := url.Parse(home)
	if err != nil {
		t.Fatal(err)
	}
	for _, cookie := range jar.Cookies(at) {
		if cookie.Name == "session" || cookie.Name == "login" {
			t.Errorf("the cookie %s is left", cookie.Name)
		}
	}
}
