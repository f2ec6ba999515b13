package web

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"example.com/threads/cmd/internal/access"
	"example.com/threads/infrastructure/auth/devissuer"
	"example.com/threads/infrastructure/httpserver"
	adaptor "example.com/threads/interfaceadaptor/access"
)

const (
	loginTime    = 10 * time.Minute // time limit of a login
	maxLogins    = 10_000           // in progress
	issuerWithin = 10 * time.Second
	maxToken     = 64 << 10 // bytes of an issuer's answer
	loginCookie  = "login"
	callback     = "/login/callback"
)

// scopes are requested; an issuer grants those that the user may have.
var scopes = []string{oidc.ScopeOpenID, string(adaptor.Read), string(adaptor.Write), string(adaptor.Operate)}

// login logs users in: with AUTH=oidc at the issuer, by the authorization code flow with PKCE; with AUTH=dev by
// choosing one of the development issuer's users.
type login struct {
	settings Settings
	access   *access.Access
	sessions *sessions
	log      *slog.Logger

	mutex    sync.Mutex
	provider *oidc.Provider     // nil until the issuer has answered
	begun    map[string]attempt // by the value of the cookie
}

// attempt is a login in progress.
type attempt struct {
	state, nonce, verifier string
	ends                   time.Time
}

func newLogin(settings Settings, accessControl *access.Access, log *slog.Logger) *login {
	return &login{
		settings: settings, access: accessControl, log: log, begun: map[string]attempt{},
		sessions: newSessions(strings.HasPrefix(settings.URL, "https:")),
	}
}

func (l *login) addTo(mux *http.ServeMux) {
	mux.HandleFunc("GET /login", l.begin)
	mux.HandleFunc("GET "+callback, l.finish)
	mux.HandleFunc("POST /login", l.beDeveloper)
	mux.HandleFunc("POST /logout", l.end)
}

// begin redirects the browser to the issuer.
func (l *login) begin(w http.ResponseWriter, r *http.Request) {
	if l.access.Notes["auth"] != access.OIDC || l.settings.ClientID == "" {
		l.fail(w, r, http.StatusNotFound, "there is no login here: it needs AUTH=oidc and WEB_CLIENT_ID", nil)
		return
	}
	config, _, err := l.config(r.Context())
	if err != nil {
		l.fail(w, r, http.StatusServiceUnavailable, "the issuer does not answer; try again later", err)
		return
	}
	begun := attempt{rand.Text(), rand.Text(), oauth2.GenerateVerifier(), time.Now().Add(loginTime)}
	id := rand.Text()
	l.mutex.Lock()
	for old, each := range l.begun {
		if time.Now().After(each.ends) || len(l.begun) >= maxLogins {
			delete(l.begun, old)
		}
	}
	l.begun[id] = begun
	l.mutex.Unlock()
	options := []oauth2.AuthCodeOption{oidc.Nonce(begun.nonce), oauth2.S256ChallengeOption(begun.verifier)}
	http.SetCookie(w, l.sessions.newCookie(loginCookie, id, loginTime))
	http.Redirect(w, r, config.AuthCodeURL(begun.state, append(options, l.resource()...)...), http.StatusSeeOther)
}

// resource names the resource that the token is for. Issuers want it as RFC 8707 says, if the audience is a URI, or as
// the parameter audience.
func (l *login) resource() []oauth2.AuthCodeOption {
	_, audience := l.access.Issuer()
	options := []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("audience", audience)}
	if parsed, err := url.Parse(audience); err == nil && parsed.IsAbs() {
		options = append(options, oauth2.SetAuthURLParam("resource", audience))
	}
	return options
}

// finish exchanges the authorization code for the tokens.
func (l *login) finish(w http.ResponseWriter, r *http.Request) {
	begun, known := l.take(r)
	http.SetCookie(w, l.sessions.newCookie(loginCookie, "", -time.Second))
	switch {
	case !known || r.FormValue("state") != begun.state:
		l.fail(w, r, http.StatusBadRequest, "this login was not started in this browser, or too long ago; start again", nil)
		return
	case r.FormValue("code") == "":
		l.fail(w, r, http.StatusForbidden, "the issuer has refused the login", errors.New(r.FormValue("error")))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), issuerWithin)
	defer cancel()
	begunSession, err := l.exchange(ctx, r.FormValue("code"), begun)
	if err != nil {
		l.fail(w, r, http.StatusForbidden, "the issuer's answer can't be used; the log says why", err)
		return
	}
	l.sessions.begin(w, begunSession)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// take returns and removes the login that this browser began.
func (l *login) take(r *http.Request) (attempt, bool) {
	cookie, err := r.Cookie(loginCookie)
	if err != nil {
		return attempt{}, false
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	begun, known := l.begun[cookie.Value]
	delete(l.begun, cookie.Value)
	return begun, known && time.Now().Before(begun.ends)
}

func (l *login) exchange(ctx context.Context, code string, begun attempt) (*session, error) {
	config, provider, err := l.config(ctx)
	if err != nil {
		return nil, err
	}
	options := append(l.resource(), oauth2.VerifierOption(begun.verifier))
	token, err := config.Exchange(ctx, code, options...)
	if err != nil {
		return nil, fmt.Errorf("exchange the code: %w", err)
	}
	raw, _ := token.Extra("id_token").(string)
	identity, err := provider.Verifier(&oidc.Config{ClientID: l.settings.ClientID}).Verify(ctx, raw)
	if err != nil || identity.Nonce != begun.nonce {
		return nil, fmt.Errorf("the identity token is not that of this login: %w", err)
	}
	var said struct {
		Name     string `json:"name"`
		Username string `json:"preferred_username"`
	}
	if err := identity.Claims(&said); err != nil {
		return nil, err
	}
	return l.sessionOf(ctx, token, cmp.Or(said.Name, said.Username, identity.Subject), renewing(ctx, config, token))
}

// sessionOf creates the session of a token that the APIs will accept.
func (l *login) sessionOf(ctx context.Context, token *oauth2.Token, name string, source oauth2.TokenSource) (*session, error) {
	principal, err := l.access.Gate.Verify(ctx, token.AccessToken)
	if err != nil {
		return nil, fmt.Errorf("the access token: %w", err)
	}
	token.Expiry = principal.Expires()
	ends := token.Expiry
	if source != nil {
		ends = time.Now().Add(sessionTime)
	}
	return &session{account: principal.Account().String(), name: name, ends: ends, token: token, source: source}, nil
}

func (l *login) config(ctx context.Context) (*oauth2.Config, *oidc.Provider, error) {
	l.mutex.Lock()
	provider := l.provider
	l.mutex.Unlock()
	if provider == nil {
		issuer, _ := l.access.Issuer()
		ctx, cancel := context.WithTimeout(ctx, issuerWithin)
		defer cancel()
		var err error
		if provider, err = oidc.NewProvider(ctx, issuer); err != nil {
			return nil, nil, err
		}
		l.mutex.Lock()
		l.provider = provider
		l.mutex.Unlock()
	}
	return &oauth2.Config{
		ClientID: l.settings.ClientID, ClientSecret: l.settings.ClientSecret, Endpoint: provider.Endpoint(),
		RedirectURL: l.settings.URL + callback, Scopes: scopes,
	}, provider, nil
}

// beDeveloper logs in as a user of the development issuer.
func (l *login) beDeveloper(w http.ResponseWriter, r *http.Request) {
	user := r.FormValue("user")
	if l.access.Notes["auth"] != access.Dev || !slices.Contains(devissuer.Users(), user) {
		l.fail(w, r, http.StatusNotFound, "there is no such user of the issuer for development, or no such issuer", nil)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), issuerWithin)
	defer cancel()
	token, err := l.developerToken(ctx, user)
	var begun *session
	if err == nil {
		begun, err = l.sessionOf(ctx, token, strings.ToUpper(user[:1])+user[1:], nil)
	}
	if err != nil {
		l.fail(w, r, http.StatusServiceUnavailable, "the issuer for development does not answer; is the write-api running?", err)
		return
	}
	l.sessions.begin(w, begun)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (l *login) developerToken(ctx context.Context, user string) (*oauth2.Token, error) {
	issuer, _ := l.access.Issuer()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, issuer+"/token?user="+url.QueryEscape(user), nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	token := &oauth2.Token{}
	if err := json.NewDecoder(http.MaxBytesReader(nil, response.Body, maxToken)).Decode(token); err != nil {
		return nil, fmt.Errorf("read the token: %w", err)
	}
	return token, nil
}

// end logs out. The form contains the session's CSRF token.
func (l *login) end(w http.ResponseWriter, r *http.Request) {
	r.Header.Set(csrfHeader, r.FormValue("csrf"))
	if found := l.sessions.of(r); found != nil && !found.admits(r) {
		refuseWithoutCSRF(w)
		return
	}
	l.sessions.end(w, r)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (l *login) fail(w http.ResponseWriter, r *http.Request, code int, detail string, cause error) {
	if cause != nil {
		l.log.WarnContext(r.Context(), "a login failed", "error", cause)
	}
	httpserver.WriteProblem(w, code, "login_failed", detail)
}

// tell answers how users log in here, who is logged in, and whether there is a lab.
func (l *login) tell(lab bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		said := map[string]any{"auth": l.access.Notes["auth"], "lab": lab}
		if l.access.Notes["auth"] == access.Dev {
			said["users"] = devissuer.Users()
		}
		if found := l.sessions.of(r); found != nil && found.bearer() != "" {
			said["account"], said["name"], said["csrf"] = found.account, found.name, found.csrf
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(said)
	}
}

func refuseWithoutCSRF(w http.ResponseWriter) {
	httpserver.WriteProblem(w, http.StatusForbidden, "forbidden", "send the session's CSRF token, which /session returns, as "+csrfHeader)
}
