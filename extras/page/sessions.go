package page

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"example.com/threads/infrastructure/httpserver"
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
	who                 string // tenant and account
	account, name, csrf string
	ends                time.Time
	renew               func() // gets the next token within a time limit; nil: the issuer has sent no refresh token

	token    atomic.Pointer[oauth2.Token]
	operator atomic.Bool // for what the page shows; the programs decide by the token
	renewing singleflight.Group
	renewed  time.Time   // the end of the last renewal; only [session.replace] uses it
	refused  atomic.Bool // the issuer will not renew the token
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

// over reports whether its user must log in again. An issuer that does not answer ends no session.
func (s *session) over() bool {
	return time.Now().After(s.token.Load().Expiry) && (s.renew == nil || s.refused.Load())
}

// replace renews the token, unless that has just been done.
func (s *session) replace() (any, error) {
	if time.Until(s.token.Load().Expiry) < renewBefore && time.Since(s.renewed) > renewPause {
		s.renew()
		s.renewed = time.Now()
	}
	return nil, nil
}

// sessions are kept in memory: when the process ends, users must log in again.
type sessions struct {
	sameOrigin *http.CrossOriginProtection
	secure     bool // the page is served over https

	mutex sync.Mutex
	open  map[string]*session
}

// newSessions returns the sessions of the page with this URL.
func newSessions(url string) *sessions {
	s := &sessions{sameOrigin: http.NewCrossOriginProtection(), secure: strings.HasPrefix(url, "https:"), open: map[string]*session{}}
	// Behind a proxy Host may be another. It never fails: ReadSettings has checked the URL.
	_ = s.sameOrigin.AddTrustedOrigin(url)
	return s
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
		case each.who == begun.who:
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
	http.SetCookie(w, s.newCookie("session", id, time.Until(begun.ends)))
	return true
}

func (s *sessions) newCookie(name, value string, lasts time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: s.cookie(name), Value: value, Path: "/", MaxAge: int(lasts.Seconds()), HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteLaxMode,
	}
}

// of returns the session of a request; nil: there is none. A page of another origin has none, even if that origin may
// use the APIs: where both are of one site, browsers send the cookie along.
func (s *sessions) of(r *http.Request) *session {
	asked := *r
	asked.Method = http.MethodPost // to look at what only reads, too
	if s.sameOrigin.Check(&asked) != nil {
		return nil
	}
	return s.byCookie(r)
}

func (s *sessions) byCookie(r *http.Request) *session {
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
	if cookie, err := r.Cookie(s.cookie("session")); err == nil {
		s.mutex.Lock()
		delete(s.open, cookie.Value)
		s.mutex.Unlock()
	}
	http.SetCookie(w, s.newCookie("session", "", -time.Second))
}

const csrfHeader = "X-CSRF-Token"

// mayChange reports whether a request may go on: one that changes something must have the session's CSRF token, which
// pages of other origins can't read. Otherwise it is refused.
func mayChange(w http.ResponseWriter, r *http.Request, found *session) bool {
	if found == nil || r.Method == http.MethodGet || r.Method == http.MethodHead ||
		subtle.ConstantTimeCompare([]byte(r.Header.Get(csrfHeader)), []byte(found.csrf)) == 1 {
		return true
	}
	httpserver.WriteProblem(w, http.StatusForbidden, "forbidden", "send the session's CSRF token, which /session returns, as "+csrfHeader)
	return false
}

// authorized adds the session's token to requests and removes the session's cookie, which is for this program only. A
// request without a session is passed on unchanged.
func (s *sessions) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found := s.of(r)
		if !mayChange(w, r, found) {
			return
		}
		r = r.Clone(r.Context())
		r.Header.Del("Cookie")
		if found != nil {
			token := found.bearer(r.Context())
			if token == "" && !found.over() {
				httpserver.WriteProblem(w, http.StatusServiceUnavailable, "unavailable", "the issuer does not renew the session's token now: try again soon")
				return
			}
			r.Header.Set("Authorization", "Bearer "+token)
		}
		next.ServeHTTP(w, r)
	})
}
