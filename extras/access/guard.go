package access

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"example.com/threads/interfaceadaptor/admission"
)

// maxBody is how many bytes of a body an API has in memory at once.
const maxBody = 64 << 10

// guard is the gate of one request. Enter is called before everything else.
type guard struct {
	Identity // zero until it is verified, but for the address

	gate    *Gate
	answer  http.Header
	request *http.Request

	streams bool // its answers follow until the client leaves

	mutex    sync.Mutex
	releases map[held]func()
}

// held is what a request holds until it ends, or until it is released earlier.
type held int

const (
	heldBody held = iota
	heldUninitialized
	heldConnection
)

var errMemory = tooMany(time.Second, "your requests and answers in flight use all the memory reserved for them; receive the answers, and try again later")

// Enter implements [admission.Guard].
func (g *guard) Enter(ask admission.Ask) (admission.Principal, error) {
	if err := g.identify(ask); err != nil {
		return g.Principal, err
	}
	if ask.Stage == admission.Handshake && g.gate.Verify != nil && !g.IsKnown() {
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
	authorization := g.request.Header.Values("Authorization")
	if ask.Stage == admission.Init {
		named, given := authorizationIn(ask.Payload)
		if g.gate.Verify == nil || g.IsKnown() && !given {
			return nil
		}
		authorization = nil
		if named != "" {
			authorization = []string{named}
		}
		return g.verify(authorization)
	}
	if err := take(g.answer, g.gate.PerAddress, "address", network(g.Address)); err != nil {
		return err
	}
	if g.gate.Verify == nil || ask.Stage == admission.Handshake && len(authorization) == 0 {
		return nil
	}
	if err := g.verify(authorization); err != nil {
		return err
	}
	return g.spend(g.answer)
}

func (g *guard) verify(authorization []string) error {
	token, err := bearer(authorization)
	if err != nil {
		return err
	}
	identity, err := g.gate.Verify(g.request.Context(), token)
	if err == nil {
		identity.Address = g.Address
		g.Identity = identity
	}
	return err
}

// authorizationIn returns the entry authorization, in any case, of the payload of connection_init.
func authorizationIn(payload map[string]any) (value string, named bool) {
	for name, entry := range payload {
		if strings.EqualFold(name, "authorization") {
			text, _ := entry.(string)
			return text, true
		}
	}
	return "", false
}

// reserve reserves what the request needs until it ends.
func (g *guard) reserve(stage admission.Stage) error {
	g.streams = stage == admission.Stream
	switch stage {
	case admission.Handshake:
		return g.hold(heldUninitialized, g.gate.Uninitialized, network(g.Address), 1,
			"too many WebSockets of this address have not sent connection_init yet; send it, or reconnect later")
	case admission.Init:
		g.release(heldUninitialized)
	case admission.Request, admission.Stream:
		size := g.request.ContentLength
		if size < 0 || size > maxBody {
			size = maxBody
		}
		// The answer needs memory, too.
		if err := g.hold(heldBody, g.gate.Memory, g.client(), max(int(size), 1), errMemory.Detail); err != nil || !g.streams {
			return err
		}
	}
	if !g.IsKnown() {
		return nil
	}
	return g.hold(heldConnection, g.gate.Live, g.client(), 1, "this account has reached its limit of open connections")
}

// Next implements [admission.Guard].
func (g *guard) Next(context.Context) error {
	if err := g.spend(nil); err != nil {
		return err
	}
	release, err := g.Hold(1)
	if err == nil {
		release()
	}
	return err
}

// spend counts a request of a known caller.
func (g *guard) spend(answer http.Header) error {
	if !g.IsKnown() {
		return nil
	}
	if err := take(answer, g.gate.PerTenant, "tenant", g.Tenant.String()); err != nil {
		return err
	}
	return take(answer, g.gate.PerAccount, "account", g.client())
}

var errExpired = Unauthenticated("the token has expired; connect again with a new one")

// Stay implements [admission.Guard].
func (g *guard) Stay(ctx context.Context) (context.Context, context.CancelFunc) {
	if g.Expires.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, g.Expires, errExpired)
}

// Hold implements [admission.Guard].
func (g *guard) Hold(n int) (release func(), err error) {
	if g.gate.Memory == nil {
		return func() {}, nil
	}
	release, ok := g.gate.Memory.Hold(g.client(), n)
	if !ok {
		return nil, errMemory
	}
	return release, nil
}

// client is the owner of a share: the account, or the network if there is none.
func (g *guard) client() string {
	if name := g.Name(); name != "" {
		return name
	}
	return network(g.Address)
}

// hold reserves n of a share until the request ends.
func (g *guard) hold(what held, of Shares, key string, n int, refused string) error {
	if of == nil {
		return nil
	}
	release, ok := of.Hold(key, n)
	if !ok {
		return tooMany(time.Second, "%s", refused)
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.releases == nil {
		g.releases = map[held]func(){}
	}
	g.releases[what] = release
	return nil
}

func (g *guard) release(what held) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if release, found := g.releases[what]; found {
		release()
		delete(g.releases, what)
	}
}

// leave releases everything at the end of the request.
func (g *guard) leave() {
	for _, what := range []held{heldBody, heldUninitialized, heldConnection} {
		g.release(what)
	}
}

// body is the body of a request. One that streams needs no memory for it once it has been read; others keep it until
// they are answered.
type body struct {
	io.ReadCloser
	guard *guard
}

func (b *body) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if err != nil && b.guard.streams {
		b.guard.release(heldBody)
	}
	return n, err
}
