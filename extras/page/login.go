package page

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/gorilla/securecookie"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"example.com/threads/extras/access"
	"example.com/threads/extras/access/devissuer"
	"example.com/threads/infrastructure/httpserver"
)

const (
	loginTime    = 10 * time.Minute // time limit of a login
	issuerWithin = 5 * time.Second  // time limit of a request to the issuer
	callback     = "/login/callback"
)

// scopes are requested; an issuer grants those that the user may have.
var scopes = []string{oidc.ScopeOpenID, "threads:read", "threads:write", "threads:operate"}

// login logs users in: with AUTH=oidc by the authorization code flow with PKCE, with AUTH=dev as one of its users.
type login struct {
	settings Settings
	access   *access.Access
	sessions *sessions
	attempts *securecookie.SecureCookie
	stopping context.Context // ends requests to the issuer
	client   *http.Client    // for all requests to the issuer; limits the time of each, answer included
	log      *slog.Logger
	provider atomic.Pointer[oidc.Provider] // nil until the issuer has answered
}

// attempt is a login in progress. It is only in the browser's encrypted cookie, so anyone may begin any number of them.
type attempt struct{ State, Nonce, Verifier string }

func newLogin(ctx context.Context, settings Settings, accessControl *access.Access, log *slog.Logger) *login {
	attempts := securecookie.New(securecookie.GenerateRandomKey(64), securecookie.GenerateRandomKey(32))
	return &login{
		settings: settings, access: accessControl, stopping: ctx, client: &http.Client{Timeout: issuerWithin}, log: log,
		sessions: newSessions(settings.URL),
		attempts: attempts.MaxAge(int(loginTime.Seconds())).SetSerializer(securecookie.JSONEncoder{}),
	}
}

// begin redirects the browser to the issuer.
func (l *login) begin(w http.ResponseWriter, r *http.Request) {
	if l.access.Settings.Mode != access.OIDC || l.settings.ClientID == "" {
		l.fail(w, r, http.StatusNotFound, "there is no login here: it needs AUTH=oidc and WEB_CLIENT_ID", nil)
		return
	}
	config, _, err := l.config(r.Context())
	if err != nil {
		l.fail(w, r, http.StatusServiceUnavailable, "the issuer does not answer; try again later", err)
		return
	}
	begun := attempt{rand.Text(), rand.Text(), oauth2.GenerateVerifier()}
	value, _ := l.attempts.Encode("login", begun) // fails only for values that are too large
	http.SetCookie(w, l.sessions.newCookie("login", value, loginTime))
	http.Redirect(w, r, config.AuthCodeURL(begun.State, l.resource(oidc.Nonce(begun.Nonce), oauth2.S256ChallengeOption(begun.Verifier))...), http.StatusSeeOther)
}

// resource adds what the token is for: as RFC 8707 says, if the audience is a URI, and as the parameter audience.
func (l *login) resource(options ...oauth2.AuthCodeOption) []oauth2.AuthCodeOption {
	audience := l.access.Settings.Audience
	if parsed, err := url.Parse(audience); err == nil && parsed.IsAbs() {
		options = append(options, oauth2.SetAuthURLParam("resource", audience))
	}
	return append(options, oauth2.SetAuthURLParam("audience", audience))
}

// finish exchanges the authorization code for the tokens.
func (l *login) finish(w http.ResponseWriter, r *http.Request) {
	var begun attempt
	cookie, err := r.Cookie(l.sessions.cookie("login"))
	if err == nil {
		err = l.attempts.Decode("login", cookie.Value, &begun)
	}
	http.SetCookie(w, l.sessions.newCookie("login", "", -time.Second))
	answer := r.URL.Query()
	switch {
	case err != nil || answer.Get("state") != begun.State:
		l.fail(w, r, http.StatusBadRequest, "this login was not started in this browser, or too long ago; start again", nil)
		return
	case answer.Get("code") == "":
		l.fail(w, r, http.StatusForbidden, "the issuer has refused the login", errors.New(answer.Get("error")))
		return
	}
	found, err := l.exchange(oidc.ClientContext(r.Context(), l.client), answer.Get("code"), begun)
	if err != nil {
		l.fail(w, r, http.StatusForbidden, "the issuer's answer can't be used; the log says why", err)
		return
	}
	l.open(w, r, found)
}

// open begins the session, and shows the page.
func (l *login) open(w http.ResponseWriter, r *http.Request, found *session) {
	if !l.sessions.begin(w, found) {
		l.fail(w, r, http.StatusServiceUnavailable, "too many users are logged in; try again later", errors.New("the most sessions are open"))
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// exchange exchanges the code of a login for the session.
func (l *login) exchange(ctx context.Context, code string, begun attempt) (*session, error) {
	config, provider, err := l.config(ctx)
	if err != nil {
		return nil, err
	}
	token, err := config.Exchange(ctx, code, l.resource(oauth2.VerifierOption(begun.Verifier))...)
	if err != nil {
		return nil, fmt.Errorf("exchange the code: %w", err)
	}
	raw, _ := token.Extra("id_token").(string)
	identity, err := provider.Verifier(&oidc.Config{ClientID: l.settings.ClientID}).Verify(ctx, raw)
	if err == nil && identity.Nonce != begun.Nonce {
		err = errors.New("its nonce is another")
	}
	if err != nil {
		return nil, fmt.Errorf("the identity token is not that of this login: %w", err)
	}
	var said struct {
		Name     string `json:"name"`
		Username string `json:"preferred_username"`
	}
	if err := identity.Claims(&said); err != nil {
		return nil, err
	}
	found, err := l.sessionOf(ctx, token, cmp.Or(said.Name, said.Username, identity.Subject))
	if err == nil && token.RefreshToken != "" {
		found.ends = time.Now().Add(sessionTime)
		found.renew = func() { l.renew(config, found) }
	}
	return found, err
}

// renew replaces the token of a session by the next one of its account.
func (l *login) renew(config *oauth2.Config, s *session) {
	ctx, next := oidc.ClientContext(l.stopping, l.client), new(session)
	token, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: s.token.Load().RefreshToken}).Token()
	if err == nil {
		next, err = l.sessionOf(ctx, token, "")
		if err != nil && token.RefreshToken != "" { // the former one may be used up
			kept := *s.token.Load()
			kept.RefreshToken = token.RefreshToken
			s.token.Store(&kept)
		}
	}
	if err == nil && next.who != s.who {
		err = errors.New("the renewed token is of another account")
	}
	if err != nil {
		var refusal *oauth2.RetrieveError // RFC 6749, 5.2
		s.refused.Store(errors.As(err, &refusal) && refusal.Response.StatusCode == http.StatusBadRequest)
		l.log.WarnContext(l.stopping, "a session's token can't be renewed", "error", err)
		return
	}
	s.operator.Store(next.operator.Load())
	s.token.Store(token)
}

// sessionOf creates the session of a token that the APIs will accept.
func (l *login) sessionOf(ctx context.Context, token *oauth2.Token, name string) (*session, error) {
	who, err := l.access.Verify(ctx, token.AccessToken)
	if err != nil {
		return nil, fmt.Errorf("the access token: %w", err)
	}
	found := &session{who: who.Name(), account: who.Account.String(), name: name, ends: who.Expires}
	found.operator.Store(who.IsOperator())
	token.Expiry = who.Expires
	found.token.Store(token)
	return found, nil
}

// config returns the client of the issuer, which is asked until it has answered once.
func (l *login) config(ctx context.Context) (*oauth2.Config, *oidc.Provider, error) {
	provider := l.provider.Load()
	if provider == nil {
		var err error
		if provider, err = oidc.NewProvider(oidc.ClientContext(ctx, l.client), l.access.Settings.Issuer); err != nil {
			return nil, nil, err
		}
		l.provider.Store(provider)
	}
	return &oauth2.Config{
		ClientID: l.settings.ClientID, ClientSecret: l.settings.ClientSecret, Endpoint: provider.Endpoint(),
		RedirectURL: l.settings.URL + callback, Scopes: scopes,
	}, provider, nil
}

// beDeveloper logs in as a user of the development issuer.
func (l *login) beDeveloper(w http.ResponseWriter, r *http.Request) {
	user := r.FormValue("user")
	if l.access.Settings.Mode != access.Dev || !slices.Contains(devissuer.Users(), user) {
		l.fail(w, r, http.StatusNotFound, "there is no such user of the issuer for development, or no such issuer", nil)
		return
	}
	if !devissuer.IsLocal(r) {
		l.fail(w, r, http.StatusMisdirectedRequest, "the users of the issuer for development log in on this machine only: open the page at localhost", nil)
		return
	}
	ctx := oidc.ClientContext(r.Context(), l.client)
	client := clientcredentials.Config{TokenURL: l.access.Settings.Issuer + "/token", AuthStyle: oauth2.AuthStyleInParams, EndpointParams: url.Values{"user": {user}}}
	token, err := client.Token(ctx)
	var found *session
	if err == nil {
		found, err = l.sessionOf(ctx, token, strings.ToUpper(user[:1])+user[1:])
	}
	if err != nil {
		l.fail(w, r, http.StatusServiceUnavailable, "the issuer for development does not answer; is the write-api running?", err)
		return
	}
	l.open(w, r, found)
}

// end logs out. The form contains the session's CSRF token.
func (l *login) end(w http.ResponseWriter, r *http.Request) {
	r.Header.Set(csrfHeader, r.FormValue("csrf"))
	if mayChange(w, r, l.sessions.byCookie(r)) {
		l.sessions.end(w, r)
		http.Redirect(w, r, "/", http.StatusSeeOther)
	}
}

func (l *login) fail(w http.ResponseWriter, r *http.Request, code int, detail string, cause error) {
	if cause != nil {
		l.log.WarnContext(r.Context(), "a login failed", "error", cause)
	}
	httpserver.WriteProblem(w, code, "login_failed", detail)
}

// sessionAnswer is the answer of /session.
type sessionAnswer struct {
	Auth     string    `json:"auth"`            // how users log in
	Lab      bool      `json:"lab"`             // there is a failure lab
	Operator bool      `json:"operator"`        // may operate the programs, and see all events
	Users    []devUser `json:"users,omitempty"` // of the issuer for development

	// of who is logged in
	Account string `json:"account,omitempty"`
	Name    string `json:"name,omitempty"`
	CSRF    string `json:"csrf,omitempty"`
}

type devUser struct {
	Name    string `json:"name"`
	Account string `json:"account"`
}

// tell answers how users log in here, who is logged in, whether they are operators, and whether there is a lab.
func (l *login) tell(lab bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		said := sessionAnswer{Auth: l.access.Settings.Mode, Lab: lab}
		said.Operator = l.access.IsOpen() // extra:operate
		if l.access.Settings.Mode == access.Dev {
			for _, user := range devissuer.Users() {
				said.Users = append(said.Users, devUser{user, devissuer.AccountOf(user)})
			}
		}
		if found := l.sessions.of(r); found != nil && (found.bearer(r.Context()) != "" || !found.over()) {
			said.Account, said.Name, said.CSRF = found.account, found.name, found.csrf
			said.Operator = found.operator.Load() // extra:operate
		}
		httpserver.WriteJSON(w, http.StatusOK, said)
	}
}
