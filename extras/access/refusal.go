package access

import (
	"fmt"
	"math"
	"net/http"
	"time"

	"example.com/threads/interfaceadaptor/admission"
)

// The headers that tell a refused client what to do: WWW-Authenticate of RFC 6750, and Retry-After.
const (
	authenticate = "Www-Authenticate" // in canonical form
	realm        = `Bearer realm="threads"`
)

func refusal(status int, code, detail, header, value string) *admission.Refusal {
	return &admission.Refusal{Status: status, Code: code, Detail: detail, Header: http.Header{header: {value}}}
}

// Unauthenticated returns the refusal of an invalid token.
func Unauthenticated(detail string) *admission.Refusal {
	return refusal(http.StatusUnauthorized, "unauthenticated", detail,
		authenticate, fmt.Sprintf(realm+`, error="invalid_token", error_description="%s"`, detail))
}

func withoutToken() *admission.Refusal {
	return refusal(http.StatusUnauthorized, "unauthenticated", sendBearer, authenticate, realm)
}

// MissingScope returns the refusal of a token without the scope of a right.
func MissingScope(right admission.Right) *admission.Refusal {
	return refusal(http.StatusForbidden, "forbidden", "the token needs the scope "+scopeOf(right),
		authenticate, fmt.Sprintf(realm+`, error="insufficient_scope", scope="%s"`, scopeOf(right)))
}

// Unavailable returns the refusal of a token that can't be verified now.
func Unavailable(detail string) *admission.Refusal {
	return refusal(http.StatusServiceUnavailable, "issuer_unavailable", detail, "Retry-After", "1")
}

func tooMany(wait time.Duration, format string, args ...any) *admission.Refusal {
	return refusal(http.StatusTooManyRequests, "too_many_requests", fmt.Sprintf(format, args...),
		"Retry-After", fmt.Sprint(max(1, int(math.Ceil(wait.Seconds())))))
}
