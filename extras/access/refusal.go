package access

import (
	"fmt"
	"math"
	"net/http"
	"time"
)

// Reason is why a request is refused.
type Reason int

// The reasons.
const (
	NotAuthenticated Reason = iota // no token, or an invalid one
	NotAllowed                     // a valid token that does not allow this
	TooMany                        // too many requests, or too much memory held
	NotNow                         // the issuer's keys are unavailable, or the server is full
)

// Refusal is the error of a refused request. Its text is for the client.
type Refusal struct {
	Reason Reason
	Detail string

	withToken bool          // NotAuthenticated: there was a token
	scope     Scope         // NotAllowed: the missing scope, if that is the reason
	wait      time.Duration // TooMany and NotNow
}

func (r *Refusal) Error() string { return r.Detail }

// Unauthenticated returns the refusal of a missing or invalid token.
func Unauthenticated(detail string) *Refusal {
	return &Refusal{Reason: NotAuthenticated, Detail: detail, withToken: true}
}

// Unavailable returns the refusal of a request that can't be decided now.
func Unavailable(detail string) *Refusal {
	return &Refusal{Reason: NotNow, Detail: detail, wait: time.Second}
}

// MissingScope returns the refusal of a token without the scope.
func MissingScope(scope Scope) *Refusal {
	return forbidden("the token needs the scope "+string(scope), scope)
}

func withoutToken(detail string) *Refusal {
	return &Refusal{Reason: NotAuthenticated, Detail: detail}
}

func forbidden(detail string, missing Scope) *Refusal {
	return &Refusal{Reason: NotAllowed, Detail: detail, scope: missing}
}

// Status returns the HTTP status.
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
