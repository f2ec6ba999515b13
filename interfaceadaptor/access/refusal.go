package access

import (
	"fmt"
	"math"
	"net/http"
	"time"
)

// Reason is why somebody is not let in.
type Reason int

// The reasons.
const (
	NotAuthenticated Reason = iota // no token, or one that is not believed
	NotAllowed                     // a good token that does not allow this
	TooMany                        // too many requests, or too much held
	NotNow                         // the issuer's keys can't be had, or the server is full
)

// Refusal is that somebody is not let in. Its text is for the one who asked.
type Refusal struct {
	Reason Reason
	Detail string

	withToken bool          // NotAuthenticated: there was a token
	scope     Scope         // NotAllowed: the one that is missing, if that is it
	wait      time.Duration // TooMany and NotNow
}

func (r *Refusal) Error() string { return r.Detail }

// Unauthenticated refuses a token.
func Unauthenticated(detail string) *Refusal {
	return &Refusal{Reason: NotAuthenticated, Detail: detail, withToken: true}
}

// Unavailable refuses what can't be decided now.
func Unavailable(detail string) *Refusal {
	return &Refusal{Reason: NotNow, Detail: detail, wait: time.Second}
}

// MissingScope refuses a token without the scope.
func MissingScope(scope Scope) *Refusal {
	return forbidden("the token needs the scope "+string(scope), scope)
}

func withoutToken(detail string) *Refusal {
	return &Refusal{Reason: NotAuthenticated, Detail: detail}
}

func forbidden(detail string, missing Scope) *Refusal {
	return &Refusal{Reason: NotAllowed, Detail: detail, scope: missing}
}

// Status is the HTTP status.
func (r *Refusal) Status() int {
	switch r.Reason {
	case NotAuthenticated:
		return http.StatusUnauthorized
	case NotAllowed:
		return http.StatusForbidden
	case TooMany:
		return http.StatusTooManyRequests
	case NotNow:
		return http.StatusServiceUnavailable
	}
	panic(fmt.Sprintf("access: no status for reason %d", r.Reason))
}

// SetHeaders sets the headers that tell a client what to do: WWW-Authenticate (RFC 6750) and Retry-After.
func (r *Refusal) SetHeaders(header http.Header) {
	switch {
	case r.Reason == NotAuthenticated && !r.withToken:
		header.Set("WWW-Authenticate", `Bearer realm="threads"`)
	case r.Reason == NotAuthenticated:
		header.Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="threads", error="invalid_token", error_description="%s"`, r.Detail))
	case r.scope != "":
		header.Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="threads", error="insufficient_scope", scope="%s"`, r.scope))
	}
	if r.wait > 0 {
		header.Set("Retry-After", fmt.Sprint(max(1, int(math.Ceil(r.wait.Seconds())))))
	}
}
