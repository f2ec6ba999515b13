// Package admission is what the APIs ask before they serve a request: who sends it, and what they may do.
package admission

import (
	"cmp"
	"context"
	"maps"
	"mime"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
)

// Stage is the part of a request that is to be admitted.
type Stage int

const (
	Request   Stage = iota // a request with one answer
	Stream                 // a request whose answers follow until the client leaves: server-sent events
	Handshake              // of a WebSocket, whose caller may say in connection_init who they are // extra:access|websocket
	Init                   // connection_init, after the handshake // extra:access|websocket
)

// Ask is what a request is to be admitted for.
type Ask struct {
	Stage     Stage
	Rights    []Right        // the caller needs one of them
	Tenant    es.Tenant      // that the request names; empty: it names none
	AnyTenant bool           // operators may name any tenant, also one that is not admitted // extra:access|tasks|tenants
	Payload   map[string]any // of connection_init, with Init // extra:access|websocket
}

// Enter admits a request and returns who sends it, or a [Refusal]. It refuses nobody by itself: without access control
// (extras/access), a caller is unknown, and may name any account as its own.
func Enter(r *http.Request, ask Ask) (Principal, error) {
	if guard, ok := r.Context().Value(guardKey{}).(Guard); ok { // extra:access|operate|tasks|tenants|websocket {
		return guard.Enter(ask)
	} // extra:access|operate|tasks|tenants|websocket }
	return Principal{Tenant: ask.Tenant, Address: AddressOf(r.RemoteAddr)}, nil
}

// Guard decides about one request or WebSocket. Its errors are [Refusal]s. // extra:access|operate|tasks|tenants|websocket {
// A middleware puts it into the request's context. After Enter, it is safe for concurrent use.
type Guard interface {
	// Enter admits a request and returns who sends it.
	Enter(ask Ask) (Principal, error)
	// Next admits another operation on a WebSocket. // extra:access|tenants|websocket {
	Next(ctx context.Context) error // extra:access|tenants|websocket }
	// Stay returns a context that ends, with a [Refusal] as its cause, when the caller is not admitted any more.
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
	return open{r}
}

// open admits everybody.
type open struct{ *http.Request }

func (o open) Enter(ask Ask) (Principal, error) { return Enter(o.Request, ask) }
func (open) Next(context.Context) error         { return nil } // extra:access|tenants|websocket
func (open) Stay(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}
func (open) Hold(int) (release func(), err error) { return func() {}, nil } // extra:access|operate|tasks|tenants|websocket }

// AddressOf returns the IP address of a connection's address, such as "192.0.2.1:5", without zone and IPv4-mapping.
func AddressOf(connection string) netip.Addr {
	peer, _ := netip.ParseAddrPort(connection)
	return peer.Addr().Unmap().WithZone("")
}

// Sends reports whether the body of a request is of the media type, in UTF-8 and not encoded otherwise.
func Sends(header http.Header, media string) bool {
	types, encoding := header.Values("Content-Type"), header.Get("Content-Encoding")
	if len(types) != 1 || (encoding != "" && !strings.EqualFold(encoding, "identity")) {
		return false
	}
	mediaType, params, err := mime.ParseMediaType(types[0])
	charset, has := params["charset"]
	return err == nil && mediaType == media && (!has || strings.EqualFold(charset, "utf-8"))
}

// Right is what an operation needs.
type Right string

const (
	Read    Right = "read"    // queries and subscriptions
	Write   Right = "write"   // commands
	Operate Right = "operate" // operations on the service, for its operators
)

// Rights is the key of an operation's rights in its metadata in the OpenAPI document. // extra:access {
const Rights = "rights" // extra:access }

// Principal is who sends a request. Without an account it is unknown: it may name any account, and has all rights.
type Principal struct {
	Account       ident.UserID // zero: unknown
	Tenant        es.Tenant    // that the request works in
	Rights        []Right
	ActsForOthers bool       // it may name any account of its tenant
	Address       netip.Addr // of the client; may be invalid
}

// IsKnown reports whether the principal has an account.
func (p Principal) IsKnown() bool { return !p.Account.IsZero() }

// Name is the tenant and the account, for counts and records; empty if the principal is unknown.
func (p Principal) Name() string {
	if !p.IsKnown() {
		return ""
	}
	return p.Tenant.String() + "/" + p.Account.String()
}

// ClientIP returns the address as text; empty if there is none.
func (p Principal) ClientIP() string {
	text, _ := p.Address.MarshalText()
	return string(text)
}

// For returns the account that the principal acts for: its own if named is zero. It may refuse another one.
func (p Principal) For(named ident.UserID) (ident.UserID, error) {
	named = cmp.Or(named, p.Account)
	if named == p.Account || p.NamesAnyone() {
		return named, nil
	}
	return named, Forbidden("you may not act for another account; leave the account out, or ask those who run the service")
}

// NamesAnyone reports whether the principal may act for every account of the tenant.
func (p Principal) NamesAnyone() bool { return !p.IsKnown() || p.ActsForOthers }

// May reports whether the principal has one of the rights.
func (p Principal) May(rights ...Right) bool {
	return !p.IsKnown() || slices.ContainsFunc(rights, func(right Right) bool { return slices.Contains(p.Rights, right) })
}

// IsOperator reports whether the principal is known as an operator of the service.
func (p Principal) IsOperator() bool { return p.IsKnown() && p.May(Operate) }

// Refusal is the error of a request that is not admitted. Each API answers with it in its own form.
type Refusal struct {
	Status int         // of HTTP: 401, 403, 429 or 503
	Code   string      // for programs, such as "forbidden"
	Detail string      // for people
	Header http.Header // of the answer
}

func (r *Refusal) Error() string { return r.Detail }

// SetHeaders sets the headers of the answer.
func (r *Refusal) SetHeaders(answer http.Header) { maps.Copy(answer, r.Header) }

// Forbidden returns the refusal of a caller who may not do this.
func Forbidden(detail string) *Refusal {
	return &Refusal{Status: http.StatusForbidden, Code: "forbidden", Detail: detail}
}
