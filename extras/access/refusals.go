package access

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"example.com/threads/interfaceadaptor/admission"
)

// tooManyOf is the refusal of a request beyond the rate of an address, an account or a tenant.
func tooManyOf(of string) *admission.Refusal {
	return tooMany("this " + of + " sends more requests a second than it may; send fewer, and try again later")
}

var tokenPattern = regexp.MustCompile(`^[A-Za-z0-9._~+/=-]+$`)

// bearer returns the token of the header Authorization.
func bearer(authorization string) (string, error) {
	const detail = "send a token, as Authorization: Bearer <token>"
	if authorization == "" {
		return "", refusal(http.StatusUnauthorized, "unauthenticated", detail, authenticate, realm)
	}
	scheme, token, _ := strings.Cut(authorization, " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || !tokenPattern.MatchString(token) {
		return "", Unauthenticated(detail)
	}
	return token, nil
}

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

// missingScope is the refusal of a token without the scope of a right.
func missingScope(right admission.Right) *admission.Refusal {
	return refusal(http.StatusForbidden, "forbidden", "the token needs the scope "+scopeOf(right),
		authenticate, fmt.Sprintf(realm+`, error="insufficient_scope", scope="%s"`, scopeOf(right)))
}

var errUnavailable = refusal(http.StatusServiceUnavailable, "issuer_unavailable",
	"the token can't be verified now, because its issuer does not answer; try again later", "Retry-After", "1")

func tooMany(detail string) *admission.Refusal {
	return refusal(http.StatusTooManyRequests, "too_many_requests", detail, "Retry-After", "1")
}
