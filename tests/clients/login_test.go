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

	"example.com/threads/tests/programs"
	"example.com/threads/tests/testenv"
)

// browser is what a browser is to the login: it follows redirects and keeps cookies.
type browser struct {
	t      *testing.T
	client *http.Client
	page   string
}

// send sends a form, or with nil asks, and returns what comes back at last.
func (b browser) send(address string, form url.Values, headers ...string) (answer *http.Response, body string) {
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
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer, err = b.client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer, string(read)
}

func (b browser) session() map[string]any {
	b.t.Helper()
	_, body := b.send(b.page+"/session", nil)
	var said map[string]any
	if err := json.Unmarshal([]byte(body), &said); err != nil {
		b.t.Fatal(err)
	}
	return said
}

var action = regexp.MustCompile(`action="([^"]+)"`)

// submit fills in the provider's form.
func (b browser) submit(shown string, fields url.Values) (*http.Response, string) {
	b.t.Helper()
	found := action.FindStringSubmatch(shown)
	if found == nil {
		b.t.Fatalf("there is no form in %s", shown)
	}
	return b.send(found[1], fields)
}

// Somebody logs in on the page at a provider that others wrote. The token stays with the program: the browser has a
// cookie that scripts can't read, and commands need the session's CSRF token.
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
	_, shown := b.send(home+"/login", nil)
	_, shown = b.submit(shown, url.Values{"prompt": {"login"}, "login": {"ada"}, "password": {"any"}})
	answer, _ := b.submit(shown, url.Values{"prompt": {"consent"}})
	if answer.Request.URL.String() != home+"/" || answer.StatusCode != http.StatusOK {
		t.Fatalf("the login ends at %s with %s", answer.Request.URL, answer.Status)
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
	// A code that was not asked for in this browser is worth nothing.
	if answer, _ := b.send(home+"/login/callback?code=stolen&state=guessed", nil); answer.StatusCode != http.StatusBadRequest {
		t.Errorf("another's code: %s", answer.Status)
	}
	if answer, _ := b.send(home+"/logout", url.Values{"csrf": {"wrong"}}); answer.StatusCode != http.StatusForbidden {
		t.Errorf("a logout without the CSRF token: %s", answer.Status)
	}
	b.send(home+"/logout", url.Values{"csrf": {csrf}})
	if said := b.session(); said["account"] != nil {
		t.Errorf("after the logout: %v", said)
	}
	if status := create("X-CSRF-Token", csrf); status != http.StatusUnauthorized {
		t.Errorf("a command after the logout: %d", status)
	}
	for _, cookie := range jar.Cookies(answer.Request.URL) {
		if cookie.Name == "session" || cookie.Name == "login" {
			t.Errorf("the cookie %s is left", cookie.Name)
		}
	}
}
