package page

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/access"
	"example.com/threads/extras/access/devissuer"
	"example.com/threads/infrastructure/config"
	"example.com/threads/infrastructure/httpserver"
)

const (
	ada = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
	bob = "01BX5ZZKBKACTAV9WEVGEMMVRZ"
)

// provider is an issuer that logs in everybody who comes, without a question. A refresh token is valid once.
type provider struct {
	*devissuer.Issuer
	server   *httptest.Server
	account  atomic.Value // of the next login
	scope    atomic.Value // of the next access token
	lifetime atomic.Int64 // of the next access token
	hangs    atomic.Bool  // the token endpoint accepts and never answers
	broken   atomic.Bool  // access tokens can't be verified
	renewals atomic.Int64 // requests with a refresh token
	nonces   sync.Map     // by code
	refresh  sync.Map     // valid refresh tokens, with their accounts
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{}
	p.account.Store(ada)
	p.scope.Store("threads:read threads:write")
	p.lifetime.Store(int64(time.Hour))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": p.URL, "jwks_uri": p.URL + "/jwks", "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
			"id_token_signing_alg_values_supported": []string{"ES256"},
		})
	})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		code := rand.Text()
		p.nonces.Store(code, r.FormValue("nonce"))
		back := url.Values{"code": {code}, "state": {r.FormValue("state")}}
		http.Redirect(w, r, r.FormValue("redirect_uri")+"?"+back.Encode(), http.StatusSeeOther)
	})
	mux.HandleFunc("POST /token", p.serveToken)
	mux.HandleFunc("GET /jwks", func(w http.ResponseWriter, r *http.Request) { p.Handler(devissuer.IsLocal).ServeHTTP(w, r) })
	p.server = httptest.NewServer(mux)
	t.Cleanup(p.server.Close)
	var err error
	if p.Issuer, err = devissuer.New(p.server.URL); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *provider) serveToken(w http.ResponseWriter, r *http.Request) {
	account, nonce := p.account.Load(), any("")
	if old := r.FormValue("refresh_token"); old != "" {
		p.renewals.Add(1)
		var known bool
		if account, known = p.refresh.LoadAndDelete(old); !known {
			http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
			return
		}
		if p.hangs.Load() {
			p.refresh.Store(old, account)
			<-r.Context().Done()
			return
		}
	} else {
		nonce, _ = p.nonces.LoadAndDelete(r.FormValue("code"))
	}
	lifetime, refresh := time.Duration(p.lifetime.Load()), rand.Text()
	p.refresh.Store(refresh, account)
	token, err := p.Mint(devissuer.Grant{Account: account.(string), Lifetime: lifetime, Scope: p.scope.Load().(string)})
	if p.broken.Load() {
		token = "no token"
	}
	var identity string
	if err == nil {
		identity, err = p.Sign(jwt.Claims{
			Issuer: p.URL, Subject: account.(string), Audience: jwt.Audience{"page"}, Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour)),
		}, map[string]any{"nonce": nonce})
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"access_token": token, "token_type": "Bearer", "refresh_token": refresh, "id_token": identity, "expires_in": int(lifetime.Seconds()),
	})
}

// front is the page in front of an API that answers with the token of the request.
type front struct {
	*httptest.Server
	sessions *sessions
}

// startPage serves the page with logins at p, and more settings.
func startPage(t *testing.T, p *provider, env ...string) front {
	t.Helper()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get("Authorization"))
	}))
	t.Cleanup(api.Close)
	served := httptest.NewUnstartedServer(nil)
	home := "http://" + served.Listener.Addr().String()
	set := map[string]string{
		"AUTH": "oidc", "AUTH_ISSUER": p.URL, "AUTH_AUDIENCE": devissuer.Audience, "WEB_URL": home, "WEB_CLIENT_ID": "page", "WEB_ADDR": "127.0.0.1:0",
	}
	for i := 0; i < len(env); i += 2 {
		set[env[i]] = env[i+1]
	}
	type settings struct {
		web    Settings
		access access.Settings
	}
	s, err := config.Read(func(name string) string { return set[name] }, func(r *config.Reader) settings {
		return settings{ReadSettings(r), access.ReadSettings(r)}
	})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	letIn, err := access.Open(t.Context(), s.access, log)
	if err != nil {
		t.Fatal(err)
	}
	lab := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "broken by "+r.URL.Path) })
	server := &Server{Server: new(httpserver.Server), settings: s.web, access: letIn, lab: lab, log: log}
	logins := newLogin(t.Context(), s.web, letIn, log)
	served.Config.Handler = server.routes(t.Context(), logins, Programs{Write: api.URL, Read: api.URL, Updater: api.URL})
	served.Start()
	t.Cleanup(served.Close)
	return front{served, logins.sessions}
}

// browser is a browser that nobody has logged in with.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

func send(ctx context.Context, client *http.Client, url string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	return response.StatusCode, string(read), err
}

// logIn logs in as an account and returns the browser.
func (f front) logIn(t *testing.T, issuer *provider, account string) *http.Client {
	t.Helper()
	issuer.account.Store(account)
	b := browser(t)
	if status, body, err := send(t.Context(), b, f.URL+"/login"); err != nil || status != http.StatusOK {
		t.Fatalf("the login: %d, %s, %v", status, body, err)
	}
	return b
}

// token returns the token that the API gets in a session; "": there is none.
func (f front) token(t *testing.T, b *http.Client) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 3*issuerWithin)
	defer stop()
	status, body, err := send(ctx, b, f.URL+"/api/write/echo")
	if status == http.StatusServiceUnavailable { // for as long as the issuer does not answer
		return ""
	}
	if err != nil || status != http.StatusOK {
		t.Fatalf("a request: %d, %v", status, err)
	}
	if body == "Bearer" { // of a session whose token has expired
		return ""
	}
	return body
}

// A browser sends the session's cookie along with a request of another origin of the same site.
func TestAPageOfAnotherOriginHasNoSession(t *testing.T) {
	p := newProvider(t)
	home := startPage(t, p)
	b := home.logIn(t, p, ada)
	for origin, has := range map[string]bool{"": true, home.URL: true, "http://127.0.0.1:3000": false, "https://" + ada + ".example.com": false} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, home.URL+"/api/read/echo", nil)
		if err != nil {
			t.Fatal(err)
		}
		if origin != "" {
			request.Header.Set("Origin", origin)
		}
		response, err := b.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if sent := strings.HasPrefix(string(body), "Bearer "); sent != has {
			t.Errorf("the token goes along with a request of %q: %t", origin, sent)
		}
	}
}

// A form of another origin does not log out, nor one without the session's CSRF token.
func TestOnlyThePageLogsOut(t *testing.T) {
	p := newProvider(t)
	home := startPage(t, p)
	b := home.logIn(t, p, ada)
	for _, origin := range []string{"", "null", home.URL, "http://127.0.0.1:3000"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, home.URL+"/logout", strings.NewReader("csrf=guessed"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if origin != "" {
			request.Header.Set("Origin", origin)
		}
		response, err := b.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if _ = response.Body.Close(); response.StatusCode != http.StatusForbidden || home.token(t, b) == "" {
			t.Errorf("a form of the origin %q: %s", origin, response.Status)
		}
	}
}

// The answer comes before the body has been read, so the connection ends.
func TestFormsAreBounded(t *testing.T) {
	p := newProvider(t)
	home := startPage(t, p)
	b := browser(t)
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for path, method := range map[string]string{"/login": http.MethodPost, "/logout": http.MethodPost, callback: http.MethodGet} {
		for media, form := range map[string]string{
			"application/x-www-form-urlencoded": "user=ada&more=",
			"multipart/form-data; boundary=a":   "--a\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\n",
		} {
			if _, _, err := send(t.Context(), b, home.URL+"/login"); err != nil { // a login that has begun
				t.Fatal(err)
			}
			request, err := http.NewRequestWithContext(t.Context(), method, home.URL+path, strings.NewReader(form+strings.Repeat("x", 1<<20)))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", media)
			if response, err := b.Do(request); err == nil {
				if _ = response.Body.Close(); !response.Close {
					t.Errorf("%s reads a megabyte of %s: %s", path, media, response.Status)
				}
			}
		}
	}
}

func TestAnIssuerThatHangsDoesNotEndASession(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	t.Parallel()
	p := newProvider(t)
	home := startPage(t, p)
	p.lifetime.Store(int64(10 * time.Second)) // to be renewed at the first request
	b := home.logIn(t, p, ada)
	p.hangs.Store(true)
	p.lifetime.Store(int64(time.Hour))

	first, begun := home.token(t, b), time.Now()
	for range 20 {
		if home.token(t, b) != first {
			t.Fatal("another token, although the first one has not expired")
		}
	}
	if took := time.Since(begun); took > 4*time.Second { // one would wait five for the issuer
		t.Errorf("requests with a valid token waited: %s", took)
	}
	testenv.Eventually(t, 30*time.Second, func() error { // an expired token is not sent
		if home.token(t, b) == first {
			return fmt.Errorf("the token is still used")
		}
		return nil
	})
	if asked := p.renewals.Load(); asked > 3 {
		t.Errorf("the issuer was asked %d times", asked)
	}
	if _, said, err := send(t.Context(), b, home.URL+"/session"); err != nil || !strings.Contains(said, ada) {
		t.Errorf("the session: %s, %v", said, err)
	}
	// A caller that leaves does not wait.
	ctx, leave := context.WithTimeout(t.Context(), 200*time.Millisecond)
	_, _, _ = send(ctx, b, home.URL+"/api/write/echo")
	leave()

	p.hangs.Store(false)
	testenv.Eventually(t, 3*(issuerWithin+renewPause), func() error {
		if got := home.token(t, b); got == "" || got == first {
			return fmt.Errorf("the session has the token %q", got)
		}
		return nil
	})
}

// The keys of an issuer may be out of reach when a token is renewed, and the former refresh token is used up.
func TestATokenThatCanNotBeVerifiedDoesNotEndASession(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	t.Parallel()
	p := newProvider(t)
	home := startPage(t, p)
	p.lifetime.Store(-int64(time.Second))
	b := home.logIn(t, p, ada)
	p.lifetime.Store(int64(time.Hour))
	p.broken.Store(true)
	if token := home.token(t, b); token != "" || p.renewals.Load() == 0 {
		t.Errorf("after %d renewals, the token is %q", p.renewals.Load(), token)
	}
	p.broken.Store(false)
	testenv.Eventually(t, 3*renewPause, func() error {
		if home.token(t, b) == "" {
			return errors.New("the session has no token")
		}
		return nil
	})
}

// A session is over when the issuer refuses to renew its token, and only then.
func TestAnIssuerThatRefusesEndsASession(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	home := startPage(t, p)
	p.lifetime.Store(-int64(time.Second))
	b := home.logIn(t, p, ada)
	p.refresh.Clear()
	status, body, err := send(t.Context(), b, home.URL+"/api/write/echo")
	if err != nil || status != http.StatusOK || strings.TrimSpace(body) != "Bearer" { // the API refuses that
		t.Errorf("a request: %d %q, %v", status, body, err)
	}
	if _, body, err = send(t.Context(), b, home.URL+"/session"); err != nil || strings.Contains(body, ada) {
		t.Errorf("the session: %s, %v", body, err)
	}
}

// A refresh token is valid once, so requests at the same time must not each renew the token.
func TestATokenIsRenewedOnce(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	home := startPage(t, p)
	p.lifetime.Store(-int64(time.Second)) // has expired, within the clock skew that a login tolerates
	b := home.logIn(t, p, ada)
	p.lifetime.Store(int64(time.Hour))
	var tokens sync.Map
	var asking sync.WaitGroup
	for range 50 {
		asking.Go(func() { tokens.Store(home.token(t, b), true) })
	}
	asking.Wait()
	for token := range tokens.Range {
		if token == "" {
			t.Error("a request was sent without a token")
		}
	}
	if asked := p.renewals.Load(); asked != 1 {
		t.Errorf("the token was renewed %d times", asked)
	}
}

// Anyone can begin logins.
func TestALoginIsNotEndedByOthers(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	home := startPage(t, p, "RATE_LIMIT_ADDRESS", "0")
	b := browser(t)
	stay := *b
	stay.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	toIssuer, err := stay.Get(home.URL + "/login") //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	_ = toIssuer.Body.Close()
	for range 11_000 {
		recorder := httptest.NewRecorder()
		home.Config.Handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/login", nil))
		if recorder.Code != http.StatusSeeOther {
			t.Fatalf("a login is answered with %d", recorder.Code)
		}
	}
	if status, body, err := send(t.Context(), b, toIssuer.Header.Get("Location")); err != nil || status != http.StatusOK {
		t.Errorf("the login ends with %d, %s, %v", status, body, err)
	}
	if home.token(t, b) == "" {
		t.Error("there is no session")
	}
}

func TestSessionsAreBoundedByAccount(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	home := startPage(t, p)
	other := home.logIn(t, p, bob)
	var own []*http.Client
	for range maxPerAccount {
		own = append(own, home.logIn(t, p, ada))
	}
	for i, b := range own {
		if home.token(t, b) == "" {
			t.Errorf("session %d of %d has ended", i+1, maxPerAccount)
		}
	}
	own = append(own, home.logIn(t, p, ada))
	for i, b := range own {
		if ended := home.token(t, b) == ""; ended != (i == 0) {
			t.Errorf("after one login more, session %d has ended: %t", i+1, ended)
		}
	}
	if home.token(t, other) == "" {
		t.Error("the session of another account has ended")
	}
}

func TestWhenThereIsNoRoomForSessions(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	home := startPage(t, p)
	first := home.logIn(t, p, ada)
	home.sessions.mutex.Lock()
	for len(home.sessions.open) < maxSessions-1 {
		home.sessions.open[rand.Text()] = &session{account: rand.Text(), ends: time.Now().Add(time.Minute)}
	}
	home.sessions.mutex.Unlock()
	last := home.logIn(t, p, bob)
	refused := browser(t)
	p.account.Store("01H42K4ABWQ5V2XQEP3A48VE0Z")
	if status, _, err := send(t.Context(), refused, home.URL+"/login"); err != nil || status != http.StatusServiceUnavailable {
		t.Errorf("a login beyond the bound: %d, %v", status, err)
	}
	for _, b := range []*http.Client{first, last} {
		if home.token(t, b) == "" {
			t.Error("a session has ended")
		}
	}
}

func TestRequestsToThePageAreLimited(t *testing.T) {
	t.Parallel()
	home := startPage(t, newProvider(t), "RATE_LIMIT_ADDRESS", "1")
	for _, path := range []string{"/", "/session", "/login", "/api/write/echo", "/health/alive"} {
		var limited bool
		for range 20 {
			recorder := httptest.NewRecorder()
			home.Config.Handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			if recorder.Code == http.StatusTooManyRequests {
				limited = recorder.Header().Get("Retry-After") == "1"
			}
		}
		if limited == (path == "/health/alive") {
			t.Errorf("%s is limited: %t", path, limited)
		}
	}
}

// Who is not on this machine, or comes by a name of somebody else's, gets no session of the issuer for development.
func TestUsersForDevelopmentLogInOnThisMachineOnly(t *testing.T) {
	f := startPage(t, newProvider(t), "AUTH", "dev")
	for _, c := range []struct {
		from, host string
		refused    bool
	}{
		{"127.0.0.1:5000", "localhost:28083", false},
		{"[::1]:5000", "page.localhost", false},
		{"127.0.0.1:5000", "evil.example:28083", true},
		{"192.0.2.7:5000", "localhost:28083", true},
		{"192.0.2.7:5000", "192.0.2.1:28083", true},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+c.host+"/login?user=ada", nil)
		r.RemoteAddr = c.from
		answer := httptest.NewRecorder()
		f.Config.Handler.ServeHTTP(answer, r)
		// It gets no further than that issuer, which does not run here.
		if refused := answer.Code == http.StatusMisdirectedRequest; refused != c.refused {
			t.Errorf("from %s at %s: %d %s", c.from, c.host, answer.Code, answer.Body)
		}
	}
}

// Who breaks the system must be an operator, where users log in.
func TestTheLabIsForOperators(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	home := startPage(t, p)
	member := home.logIn(t, p, bob)
	p.scope.Store("threads:read threads:write threads:operate")
	operator := home.logIn(t, p, ada)
	open := startPage(t, p, "AUTH", "none", "AUTH_ISSUER", "")
	for about, c := range map[string]struct {
		client *http.Client
		url    string
		want   int
	}{
		"nobody":                 {browser(t), home.URL, http.StatusUnauthorized},
		"a member":               {member, home.URL, http.StatusForbidden},
		"an operator":            {operator, home.URL, http.StatusOK},
		"without access control": {browser(t), open.URL, http.StatusOK},
	} {
		for _, path := range []string{"/state", "/lab.js"} {
			status, said, err := send(t.Context(), c.client, c.url+"/lab"+path)
			if err != nil || status != c.want || (said == "broken by "+path) != (status == http.StatusOK) {
				t.Errorf("%s: %s: %d, %s, %v", about, path, status, said, err)
			}
		}
	}
}
