package access

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// Verify finds out who a token speaks for. Its error is a [Refusal].
type Verify func(ctx context.Context, token string) (Principal, error)

// Allowance is what a request has left of a limit.
type Allowance struct {
	Limit     int           // requests a second
	Remaining int           // of them, now
	Reset     time.Duration // until there are Limit again
	Wait      time.Duration // 0: the request is allowed
}

// Take takes a request from the allowance of a key.
type Take func(key string) Allowance

// Gate lets requests in. Its fields are set before it is used; then it is safe for concurrent use.
type Gate struct {
	Verify Verify // nil: AUTH=none
	// PerAddress, PerAccount and PerTenant limit requests; nil: no limit.
	PerAddress, PerAccount, PerTenant Take
	Proxies                           Proxies
}

// Enter lets an HTTP request in and tells who asks. It sets the RateLimit headers of the answer; the error is a [Refusal],
// whose headers are set, too.
func (g *Gate) Enter(answer http.Header, r *http.Request) (Principal, error) {
	principal, err := g.enter(answer, r)
	if refusal, refused := err.(*Refusal); refused { //nolint:errorlint // it is not wrapped
		refusal.SetHeaders(answer)
	}
	return principal, err
}

func (g *Gate) enter(answer http.Header, r *http.Request) (Principal, error) {
	if err := take(answer, g.PerAddress, "address", g.Proxies.ClientIP(r)); err != nil {
		return Principal{}, err
	}
	if g.Verify == nil {
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

// EnterBy lets a connection in by a token that did not come in a header, in the form of the header Authorization.
func (g *Gate) EnterBy(ctx context.Context, authorization string) (Principal, error) {
	if g.Verify == nil {
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

// Spend takes another request of a principal who is in, such as a message on a WebSocket.
func (g *Gate) Spend(principal Principal) error { return g.spend(nil, principal) }

func (g *Gate) spend(answer http.Header, principal Principal) error {
	if !principal.IsVerified() {
		return nil
	}
	if err := take(answer, g.PerTenant, "tenant", principal.tenant.String()); err != nil {
		return err
	}
	return take(answer, g.PerAccount, "account", principal.tenant.String()+"/"+principal.account.String())
}

// Client is whom a share belongs to: the account, or the address of anybody.
func (g *Gate) Client(principal Principal, r *http.Request) string {
	if principal.IsVerified() {
		return principal.tenant.String() + "/" + principal.account.String()
	}
	return g.Proxies.ClientIP(r)
}

// take takes a request and tells in the answer what is left; the last limit that is taken from is the one that is told.
func take(answer http.Header, limit Take, of, key string) error {
	if limit == nil {
		return nil
	}
	left := limit(key)
	if answer != nil {
		seconds := func(d time.Duration) string { return fmt.Sprint(int(math.Ceil(d.Seconds()))) }
		answer.Set("RateLimit-Policy", fmt.Sprintf("%d;w=1", left.Limit))
		answer.Set("RateLimit-Limit", fmt.Sprint(left.Limit))
		answer.Set("RateLimit-Remaining", fmt.Sprint(left.Remaining))
		answer.Set("RateLimit-Reset", seconds(left.Reset))
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

// bearer is the token of the header Authorization.
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
