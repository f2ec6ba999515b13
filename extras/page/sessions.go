package page

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
)

const (
	// maxSessions bounds the memory. At the bound new logins are refused: nobody's session ends because others log in.
	maxSessions = 50_000
	// maxPerAccount is the number of sessions of an account; one more login ends the oldest.
	maxPerAccount = 10
	// sessionTime limits a session whose token can be renewed.
	sessionTime = 12 * time.Hour
	renewBefore = 30 * time.Second // a token expires
	renewPause  = 5 * time.Second  // after a renewal, successful or not
)

// session is a logged-in user. The token is sent to the APIs only.
type session struct {
	account, name, csrf string
	operator            bool // for what the page shows; the programs decide by the token
	ends                time.Time
	// renew gets the next token within a time limit; nil: the issuer has sent no refresh token.
	renew func(last *oauth2.Token) (*oauth2.Token, error)

	token    atomic.Pointer[oauth2.Token]
	renewing singleflight.Group
	renewed  time.Time // the end of the last renewal; only [session.replace] uses it
}

// bearer returns the token; "": it has expired. A token that expires soon is renewed in the background, once at a time.
// Requests use it until it expires; only then do they wait for the renewal.
func (s *session) bearer(ctx context.Context) string {
	token := s.token.Load()
	if s.renew != nil && time.Until(token.Expiry) < renewBefore {
		renewed := s.renewing.DoChan("", s.replace)
		if time.Now().After(token.Expiry) {
			select {
			case <-renewed:
				token = s.token.Load()
			case <-ctx.Done():
			}
		}
	}
	if time.Now().After(token.Expiry) {
		return ""
	}
	return token.AccessToken
}

// replace renews the token, unless that has just been done.
func (s *session) replace() (any, error) {
	last := s.token.Load()
	if time.Until(last.Expiry) > renewBefore || time.Since(s.renewed) < renewPause {
		return nil, nil
	}
	next, err := s.renew(last)
	if err == nil {
		s.token.Store(next)
	}
	s.renewed = time.Now()
	return nil, err
}

// sessions are kept in memory: when the process ends, users must log in again.
type sessions struct {
	secure bool // the page is served over https

	mutex sync.Mutex
	open  map[string]*session
}

// cookie is the full name of a cookie. With https its prefix binds it to this host.
func (s *sessions) cookie(name string) string {
	if s.secure {
		return "__Host-" + name
	}
	return name
}

// begin stores a session and sets its cookie. It returns false if there is no room.
func (s *sessions) begin(w http.ResponseWriter, begun *session) bool {
	begun.csrf = rand.Text()
	id := rand.Text()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	own, oldest := 0, ""
	for old, each := range s.open {
		switch {
		case time.Now().After(each.ends):
			delete(s.open, old)
		case each.account == begun.account:
			if own++; oldest == "" || each.ends.Before(s.open[oldest].ends) {
				oldest = old
			}
		}
	}
	if own >= maxPerAccount {
		delete(s.open, oldest)
	}
	if len(s.open) >= maxSessions {
		return false
	}
	s.open[id] = begun
	http.SetCookie(w, s.newCookie(s.cookie("session"), id, time.Until(begun.ends)))
	return true
}

func (s *sessions) newCookie(name, value string, lasts time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(lasts.Seconds()), HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteLaxMode,
	}
}

// of returns the session of a request; nil: there is none.
func (s *sessions) of(r *http.Request) *session {
	cookie, err := r.Cookie(s.cookie("session"))
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
	name := s.cookie("session")
	if cookie, err := r.Cookie(name); err == nil {
		s.mutex.Lock()
		delete(s.open, cookie.Value)
		s.mutex.Unlock()
	}
	http.SetCookie(w, s.newCookie(name, "", -time.Second))
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
			r.Header.Set("Authorization", "Bearer "+found.bearer(r.Context()))
		}
		next.ServeHTTP(w, r)
	})
}
