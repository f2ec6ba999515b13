package access

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"example.com/threads/es"
	"example.com/threads/extras/limits"
	"example.com/threads/interfaceadaptor/admission"
)

// guard is the [admission.Guard] of one request. Enter is called before everything else.
type guard struct {
	Identity        // zero until it is verified, but for the address
	token    string // the verified one

	access  *Access
	request *http.Request

	// They release what it holds until it ends, or earlier. They may be called repeatedly.
	body, connection func()
}

// Around puts a guard into the context of each request.
func (a *Access) Around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nothing := func() {}
		guard := &guard{access: a, request: r, body: nothing, connection: nothing}
		guard.Address = a.Settings.Proxies.client(r)
		defer func() { guard.body(); guard.connection() }()
		admitted := r.WithContext(admission.With(r.Context(), guard))
		if a.Settings.Origins.Allow(r.Header.Get("Origin")) && r.Header.Get("Upgrade") != "" {
			// The API would refuse a WebSocket of this page, because it is of another origin.
			admitted.Header = r.Header.Clone()
			admitted.Header.Del("Origin")
		}
		next.ServeHTTP(w, admitted)
	})
}

var errMemory = tooMany("your requests and answers in flight use all the memory reserved for them; receive the answers, and try again later")

func (g *guard) Enter(ask admission.Ask) (admission.Principal, error) {
	if err := g.identify(ask); err != nil {
		return g.Principal, err
	}
	if ask.Stage == admission.Handshake && g.access.Verify != nil && !g.IsKnown() {
		ask.Tenant = "" // connection_init tells whether they may know of it
	}
	principal, err := g.mayAsk(ask)
	if err == nil {
		err = g.reserve(ask.Stage)
	}
	return principal, err
}

// identify verifies who sends the request, and counts it.
func (g *guard) identify(ask admission.Ask) error {
	authorization := strings.Join(g.request.Header.Values("Authorization"), ", ")
	needed := ask.Stage != admission.Handshake || authorization != ""
	if ask.Stage == admission.Init {
		authorization, needed = authorizationIn(ask.Payload)
		needed = needed || !g.IsKnown()
	} else if !g.access.PerAddress.Take(network(g.Address)) {
		return tooManyOf("address")
	}
	if g.access.Verify == nil || !needed {
		return nil
	}
	token, err := bearer(authorization)
	if err != nil {
		return err
	}
	identity, err := g.access.Verify(g.request.Context(), token)
	if err != nil {
		return err
	}
	identity.Address = g.Address
	g.Identity, g.token = identity, token
	if ask.Stage == admission.Init {
		return nil
	}
	return g.spend()
}

// authorizationIn returns the entry authorization, in any case, of the payload of connection_init.
func authorizationIn(payload map[string]any) (value string, given bool) {
	for name, entry := range payload {
		if strings.EqualFold(name, "authorization") {
			value, _ = entry.(string)
			return value, true
		}
	}
	return "", false
}

// mayAsk returns the principal of a request in the tenant that it names, or why it is refused.
func (g *guard) mayAsk(ask admission.Ask) (admission.Principal, error) {
	principal := g.Principal
	switch named := ask.Tenant; {
	case !g.IsKnown() || ask.AnyTenant && g.IsOperator() && named != "":
		principal.Tenant = named
	case named != "" && named != g.Tenant:
		return principal, admission.Forbidden("the token is for another tenant; leave the header X-Tenant-Code out")
	}
	if !g.May(ask.Rights...) {
		return principal, missingScope(ask.Rights[0])
	}
	return principal, nil
}

// reserve reserves what the request needs until it ends.
func (g *guard) reserve(stage admission.Stage) error {
	switch stage {
	case admission.Handshake:
		return g.hold(&g.connection, g.access.Uninitialized, network(g.Address), 1,
			"too many WebSockets of this address have not sent connection_init yet; send it, or reconnect later")
	case admission.Init:
		g.connection()
	case admission.Request, admission.Stream:
		const maxBody = 64 << 10                                   // bytes of a body; an import holds more by itself
		size := int(min(uint64(g.request.ContentLength), maxBody)) // an unknown length is -1, which is large
		// The answer needs memory, too.
		if err := g.hold(&g.body, g.access.Memory, g.client(), max(size, 1), errMemory.Detail); err != nil || stage == admission.Request {
			return err
		}
	}
	if !g.IsKnown() {
		return nil
	}
	return g.hold(&g.connection, g.access.Live, g.client(), 1, "this account has reached its limit of open connections")
}

func (g *guard) Next(ctx context.Context) error {
	if !g.Expires.IsZero() && time.Now().After(g.Expires) {
		return errExpired
	}
	if err := g.withdrawn(ctx); err != nil {
		return err
	}
	if !g.IsKnown() && !g.access.PerAddress.Take(network(g.Address)) {
		return tooManyOf("address")
	}
	if err := g.spend(); err != nil {
		return err
	}
	release, err := g.Hold(1)
	if err == nil {
		release()
	}
	return err
}

// spend counts a request of a known caller.
func (g *guard) spend() error {
	switch {
	case !g.IsKnown():
	case !g.access.PerAccount.Take(g.client()): // before the tenant: what is refused here costs the others nothing
		return tooManyOf("account")
	case !g.access.PerTenant.Take(g.Tenant.String()):
		return tooManyOf("tenant")
	}
	return nil
}

var errExpired = Unauthenticated("the token has expired; connect again with a new one")

// withdrawn refuses a token whose key the issuer has withdrawn, and no other.
func (g *guard) withdrawn(ctx context.Context) error {
	if g.token == "" {
		return nil
	}
	_, err := g.access.Verify(ctx, g.token)
	if refusal, is := errors.AsType[*admission.Refusal](err); is && refusal.Status == http.StatusUnauthorized {
		return refusal
	}
	return nil
}

// keyCheck is the interval of looking for withdrawn keys, for each connection.
const keyCheck = time.Minute

func (g *guard) Stay(ctx context.Context) (context.Context, context.CancelFunc) {
	if g.Expires.IsZero() {
		return context.WithCancel(ctx)
	}
	staying, leave := context.WithDeadlineCause(ctx, g.Expires, errExpired)
	staying, shutOut := context.WithCancelCause(staying)
	go func() {
		for es.Wait(staying, keyCheck) == nil {
			if err := g.withdrawn(staying); err != nil {
				shutOut(err)
			}
		}
	}()
	return staying, func() { shutOut(nil); leave() }
}

func (g *guard) Hold(n int) (release func(), err error) {
	release, ok := g.access.Memory.Hold(g.client(), n)
	if !ok {
		return nil, errMemory
	}
	return release, nil
}

// client is the owner of a share: the account, or the network if there is none.
func (g *guard) client() string { return cmp.Or(g.Name(), network(g.Address)) }

// hold reserves n of a share until the request ends.
func (g *guard) hold(what *func(), of *limits.Budget, key string, n int, refused string) error {
	release, ok := of.Hold(key, n)
	if !ok {
		return tooMany(refused)
	}
	*what = release
	return nil
}
