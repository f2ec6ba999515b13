package web

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

const (
	maxSessions = 10_000
	// sessionTime limits a session whose token can be renewed.
	sessionTime = 12 * time.Hour
	renewBefore = 30 * time.Second
)

// session is a logged-in user. The token is sent to the APIs only.
type session struct {
	account, name, csrf string
	ends                time.Time
	source              oauth2.TokenSource // renews the token; nil: it can't be renewed

	mutex sync.Mutex
	token *oauth2.Token
}

// bearer returns the token, renewed if necessary and possible; "": it has expired.
func (s *session) bearer() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.source != nil && time.Until(s.token.Expiry) < renewBefore {
		if renewed, err := s.source.Token(); err == nil {
			s.token = renewed
		}
	}
	if time.Now().After(s.token.Expiry) {
		return ""
	}
	return s.token.AccessToken
}

// sessions are kept in memory: when the process ends, users must log in again.
type sessions struct {
	secure bool // the page is served over https

	mutex sync.Mutex
	open  map[string]*session
}

func newSessions(secure bool) *sessions {
	return &sessions{secure: secure, open: map[string]*session{}}
}

// cookie is the name of the session's cookie. With https its prefix binds it to this host.
func (s *sessions) cookie() string {
	if s.secure {
		return "__Host-session"
	}
	return "session"
}

// begin stores a session and sets its cookie.
func (s *sessions) begin(w http.ResponseWriter, begun *session) {
	begun.csrf = rand.Text()
	id := rand.Text()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for old, each := range s.open {
		if time.Now().After(each.ends) || len(s.open) >= maxSessions {
			delete(s.open, old)
		}
	}
	s.open[id] = begun
	http.SetCookie(w, s.newCookie(s.cookie(), id, time.Until(begun.ends)))
}

func (s *sessions) newCookie(name, value string, lasts time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(lasts.Seconds()), HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteLaxMode,
	}
}

// of returns the session of a request; nil: there is none.
func (s *sessions) of(r *http.Request) *session {
	cookie, err := r.Cookie(s.cookie())
	if err != nil {
		return nil
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found := s.open[cookie.Value]
	if found == nil || time.Now().After(found.ends) {
		return nil
	}
	return found
}

func (s *sessions) end(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(s.cookie()); err == nil {
		s.mutex.Lock()
		delete(s.open, cookie.Value)
		s.mutex.Unlock()
	}
	http.SetCookie(w, s.newCookie(s.cookie(), "", -time.Second))
}

const csrfHeader = "X-CSRF-Token"

// admits reports whether a request may use the session. A request that changes something must contain the session's
// CSRF token, which pages of other origins can't read.
func (s *session) admits(r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	return subtle.ConstantTimeCompare([]byte(r.Header.Get(csrfHeader)), []byte(s.csrf)) == 1
}

// renewing returns a source of renewed tokens; nil: the issuer has sent no refresh token.
func renewing(ctx context.Context, config *oauth2.Config, token *oauth2.Token) oauth2.TokenSource {
	if token.RefreshToken == "" {
		return nil
	}
	return config.TokenSource(context.WithoutCancel(ctx), &oauth2.Token{RefreshToken: token.RefreshToken})
}

// authorized adds the session's token to requests and removes the session's cookie, which is for this program only. A
// request without a session is passed on unchanged.
func (s *sessions) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found := s.of(r)
		if found != nil && !found.admits(r) {
			refuseWithoutCSRF(w)
			return
		}
		r = r.Clone(r.Context())
		r.Header.Del("Cookie")
		if found != nil {
			r.Header.Set("Authorization", "Bearer "+found.bearer())
		}
		next.ServeHTTP(w, r)
	})
}
