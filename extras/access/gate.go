package access

import (
	"context"
	"math"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"example.com/threads/extras/limits"
	"example.com/threads/interfaceadaptor/admission"
)

// Verify verifies a token and returns its identity. Its error is an [admission.Refusal].
type Verify func(ctx context.Context, token string) (Identity, error)

// Take counts a request against the allowance of a key.
type Take func(key string) limits.Taken

// Shares limits what each key may hold at once.
type Shares interface {
	// Hold reserves n for a key and returns the function that releases them; false if the key, or all keys together,
	// hold too much.
	Hold(key string, n int) (release func(), ok bool)
}

// Gate admits requests. Set its fields before use; after that it is safe for concurrent use.
type Gate struct {
	Verify Verify // nil: AUTH=none
	// PerAddress, PerAccount and PerTenant limit requests; nil: no limit.
	PerAddress, PerAccount, PerTenant Take
	// Memory is that of undecided requests and of answers that were not received yet, in bytes, of an account, or of an
	// address without one. Live are the open WebSockets and event streams of an account. Uninitialized are the
	// WebSockets of an address that have not sent connection_init. nil: no limit.
	Memory, Live, Uninitialized Shares
	Proxies                     Proxies
	Origins                     Origins
}

// OpenWarning is shown in log, health and pages while the gate admits every caller.
const OpenWarning = "AUTH=none: everybody is believed to be whoever they say they are. " +
	"Set AUTH=oidc, or AUTH=dev to try it, before others can reach this server."

// Around puts the gate's guard into the context of each request.
func (g *Gate) Around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guard := &guard{gate: g, answer: w.Header(), request: r, Identity: Identity{Principal: admission.Principal{Address: g.Proxies.client(r)}}}
		defer guard.leave()
		admitted := r.WithContext(admission.With(r.Context(), guard))
		admitted.Body = &body{r.Body, guard}
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
	if address.Is6() {
		return netip.PrefixFrom(address, 64).Masked().String()
	}
	return textOf(address)
}

// take counts a request and sets the answer's RateLimit headers. They show the limit that was counted last.
func take(answer http.Header, limit Take, of, key string) error {
	if limit == nil {
		return nil
	}
	left := limit(key)
	if answer != nil {
		allowed := strconv.Itoa(left.Limit)
		// in canonical form, as net/http writes them
		answer.Set("Ratelimit-Policy", allowed+";w=1")
		answer.Set("Ratelimit-Limit", allowed)
		answer.Set("Ratelimit-Remaining", strconv.Itoa(left.Remaining))
		answer.Set("Ratelimit-Reset", strconv.Itoa(int(math.Ceil(left.Reset.Seconds()))))
	}
	if left.Wait > 0 {
		return tooMany(left.Wait, "this %s has sent more than %d requests a second; send fewer, and try again later", of, left.Limit)
	}
	return nil
}

const sendBearer = "send a token, as Authorization: Bearer <token>"

var tokenPattern = regexp.MustCompile(`^[A-Za-z0-9._~+/=-]+$`)

// bearer returns the token of the header Authorization.
func bearer(values []string) (string, error) {
	switch len(values) {
	case 0:
		return "", withoutToken()
	case 1:
	default:
		return "", Unauthenticated("the header Authorization must be sent once")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || !tokenPattern.MatchString(token) {
		return "", Unauthenticated(sendBearer)
	}
	return token, nil
}
