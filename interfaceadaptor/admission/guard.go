package admission

import (
	"context"
	"net/http"
	"net/netip"

	"example.com/threads/es"
)

// Stage is the part of a request that is to be admitted.
type Stage int

// The stages.
const (
	Request   Stage = iota // a request with one answer
	Stream                 // a request whose answers follow until the client leaves: server-sent events
	Handshake              // of a WebSocket, whose caller may say in connection_init who they are
	Init                   // connection_init, after the handshake
)

// Ask is what a request is to be admitted for.
type Ask struct {
	Stage     Stage
	Rights    []Right        // the caller needs one of them
	Tenant    es.Tenant      // that the request names; empty: it names none
	AnyTenant bool           // operators may name any tenant, also one that is not admitted
	Payload   map[string]any // of connection_init, with Init
}

// Guard decides about one request, or about one connection with its operations. Its errors are [Refusal]s. After Enter,
// it is safe for concurrent use.
type Guard interface {
	// Enter admits a request and returns who sends it.
	Enter(ask Ask) (Principal, error)
	// Next admits another operation on a WebSocket.
	Next(ctx context.Context) error
	// Stay returns a context that ends, with a [Refusal] as its cause, when the caller is not admitted any more. Call
	// leave to release it.
	Stay(ctx context.Context) (staying context.Context, leave context.CancelFunc)
	// Hold reserves n bytes of memory for an answer, until release is called.
	Hold(n int) (release func(), err error)
}

type guardKey struct{}

// With returns a context with the guard of its request.
func With(ctx context.Context, guard Guard) context.Context {
	return context.WithValue(ctx, guardKey{}, guard)
}

// Of returns the guard of a request. Without one in its context, everybody is admitted.
func Of(r *http.Request) Guard {
	if guard, ok := r.Context().Value(guardKey{}).(Guard); ok {
		return guard
	}
	return open{AddressOf(r.RemoteAddr)}
}

// open admits everybody.
type open struct{ address netip.Addr }

func (o open) Enter(ask Ask) (Principal, error) {
	return Principal{Tenant: ask.Tenant, Address: o.address}, nil
}
func (open) Next(context.Context) error { return nil }
func (open) Stay(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}
func (open) Hold(int) (release func(), err error) { return func() {}, nil }

// AddressOf returns the IP address of a connection's address, such as "192.0.2.1:5": without zone, and an IPv4-mapped
// one as IPv4. It is not valid if the connection has none.
func AddressOf(connection string) netip.Addr {
	peer, _ := netip.ParseAddrPort(connection)
	return peer.Addr().Unmap().WithZone("")
}
