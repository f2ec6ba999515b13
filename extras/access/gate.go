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
)

// Verify verifies a token and returns its principal. Its error is a [Refusal].
type Verify func(ctx context.Context, token string) (Principal, error)

// Take counts a request against the allowance of a key.
type Take func(key string) limits.Taken

// Gate admits requests. Set its fields before use; after that it is safe for concurrent use.
type Gate struct {
	Verify Verify // nil: AUTH=none
	// PerAddress, PerAccount and PerTenant limit requests; nil: no limit.
	PerAddress, PerAccount, PerTenant Take
	Shares                            Shares // nil: no limit
	Proxies                           Proxies
}

// OpenWarning is shown in log, health and pages while the gate admits every caller.
const OpenWarning = "AUTH=none: everybody is believed to be whoever they say they are. " +
	"Set AUTH=oidc, or AUTH=dev to try it, before others can reach this server."

// IsOpen reports whether requests are admitted without a token.
func (g *Gate) IsOpen() bool { return g.Verify == nil }

// Enter admits an HTTP request and returns its principal. It sets the RateLimit headers of the answer. Its error is a
// [Refusal].
func (g *Gate) Enter(answer http.Header, r *http.Request) (Principal, error) {
	if err := g.Knock(answer, r); err != nil {
		return Principal{}, err
	}
	if g.IsOpen() {
		return Principal{}, nil
	}
	token, err := bearer(r.Header.Values("Authorization"))
	if err != nil {
		return Principal{}, err
	}
	principal, err := g.Verify(r.Context(), token)
	if err != nil {
		return Principal{}, err
	}
	return principal, g.spend(answer, principal)
}

// Knock admits an HTTP request that authenticates later: it counts for its address.
func (g *Gate) Knock(answer http.Header, r *http.Request) error {
	if g.PerAddress == nil {
		return nil
	}
	return take(answer, g.PerAddress, "address", g.Network(r))
}

// EnterBy admits a connection by a token that did not come in a header, in the form of the header Authorization.
func (g *Gate) EnterBy(ctx context.Context, authorization string) (Principal, error) {
	if g.IsOpen() {
		return Principal{}, nil
	}
	var values []string
	if authorization != "" {
		values = []string{authorization}
	}
	token, err := bearer(values)
	if err != nil {
		return Principal{}, err
	}
	return g.Verify(ctx, token)
}

// Spend counts another request of an admitted principal, such as a message on a WebSocket.
func (g *Gate) Spend(principal Principal) error { return g.spend(nil, principal) }

func (g *Gate) spend(answer http.Header, principal Principal) error {
	if !principal.IsVerified() {
		return nil
	}
	if err := take(answer, g.PerTenant, "tenant", principal.tenant.String()); err != nil {
		return err
	}
	return take(answer, g.PerAccount, "account", principal.Client())
}

// Client names the owner of a share: the account, or the address if there is no account.
func (g *Gate) Client(principal Principal, r *http.Request) string {
	if account := principal.Client(); account != "" {
		return account
	}
	return g.Network(r)
}

// Network is the network whose requests are counted together: an IPv4 address, or the /64 of an IPv6 address, the usual
// size of one customer's network.
func (g *Gate) Network(r *http.Request) string {
	address := g.Proxies.client(r)
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
		return &Refusal{
			Reason: TooMany, wait: left.Wait,
			Detail: fmt.Sprintf("this %s has sent more than %d requests a second; send fewer, and try again later", of, left.Limit),
		}
	}
	return nil
}

const sendBearer = "send a token, as Authorization: Bearer <token>"

var tokenPattern = regexp.MustCompile(`^[A-Za-z0-9._~+/=-]+$`)

// bearer returns the token of the header Authorization.
func bearer(values []string) (string, error) {
	switch len(values) {
	case 0:
		return "", withoutToken(sendBearer)
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

// Shares limits the server memory that each client may hold at once, in bytes: undecided requests and answers that were
// not received yet.
type Shares interface {
	// Hold reserves n bytes for a client and returns the function that releases them; false if the client, or all
	// clients together, hold too much.
	Hold(client string, n int) (release func(), ok bool)
	// Room reports whether the client could reserve anything.
	Room(client string) bool
}

// Hold reserves bytes of a client's share. Its error is a [Refusal].
func (g *Gate) Hold(client string, n int) (release func(), err error) {
	if g.Shares == nil {
		return func() {}, nil
	}
	release, ok := g.Shares.Hold(client, n)
	if !ok {
		return nil, errShare
	}
	return release, nil
}

// Room refuses a client whose share is used up.
func (g *Gate) Room(client string) error {
	if g.Shares == nil || g.Shares.Room(client) {
		return nil
	}
	return errShare
}

var errShare = &Refusal{
	Reason: TooMany, wait: time.Second,
	Detail: "your requests and answers in flight use all the memory reserved for them; receive the answers, and try again later",
}
