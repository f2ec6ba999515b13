package access

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"example.com/threads/extras/limits"
	"example.com/threads/interfaceadaptor/admission"
)

// Gate admits requests. Set its fields before use; after that it is safe for concurrent use.
type Gate struct {
	// Verify verifies a token and returns its identity; nil: AUTH=none. Its error is an [admission.Refusal].
	Verify func(ctx context.Context, token string) (Identity, error)
	// PerAddress, PerAccount and PerTenant limit requests; nil: no limit.
	PerAddress, PerAccount, PerTenant *limits.Rate
	// Memory is that of undecided requests and of answers that were not received yet, in bytes, of an account, or of an
	// address without one. Live are the open WebSockets and event streams of an account. Uninitialized are the
	// WebSockets of an address that have not sent connection_init. nil: no limit.
	Memory, Live, Uninitialized *limits.Budget
	Proxies                     Proxies
	Origins                     Origins
}

// OpenWarning is shown in log, health and pages while the gate admits every caller.
const OpenWarning = "AUTH=none: everybody is believed to be whoever they say they are. " +
	"Set AUTH=oidc, or AUTH=dev to try it, before others can reach this server."

// Around puts the gate's guard into the context of each request.
func (g *Gate) Around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guard := &guard{gate: g, request: r, body: nothing, uninitialized: nothing, connection: nothing}
		guard.Address = g.Proxies.client(r)
		defer guard.leave()
		admitted := r.WithContext(admission.With(r.Context(), guard))
		if g.Origins.Allow(r.Header.Get("Origin")) && r.Header.Get("Upgrade") != "" {
			// The API would refuse a WebSocket of this page, because it is of another origin.
			admitted.Header = r.Header.Clone()
			admitted.Header.Del("Origin")
		}
		next.ServeHTTP(w, admitted)
	})
}

// network is the network whose requests are counted together: an IPv4 address, or the /64 of an IPv6 address, the usual
// size of one customer's network.
func network(address netip.Addr) string {
	switch {
	case !address.IsValid():
		return ""
	case address.Is6():
		return netip.PrefixFrom(address, 64).Masked().String()
	}
	return address.String()
}

// take counts a request of an address, an account or a tenant.
func take(limit *limits.Rate, of, key string) error {
	if wait := limit.Take(key); wait > 0 {
		return tooMany(wait, "this "+of+" sends more requests a second than it may; send fewer, and try again later")
	}
	return nil
}

// seconds rounds up.
func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }

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

// unavailable is the refusal of a token that can't be verified now.
func unavailable(detail string) *admission.Refusal {
	return refusal(http.StatusServiceUnavailable, "issuer_unavailable", detail, "Retry-After", "1")
}

func tooMany(wait time.Duration, detail string) *admission.Refusal {
	return refusal(http.StatusTooManyRequests, "too_many_requests", detail, "Retry-After", seconds(max(wait, time.Second)))
}
