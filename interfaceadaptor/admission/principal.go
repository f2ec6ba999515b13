package admission

import (
	"net/http"
	"net/netip"
	"slices"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
)

// Right is what an operation needs.
type Right string

// The rights.
const (
	Read    Right = "read"    // queries and subscriptions
	Write   Right = "write"   // commands
	Operate Right = "operate" // operations on the service, for its operators
)

// Rights is the key of an operation's rights in its metadata in the OpenAPI document.
const Rights = "rights"

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
	if !p.Address.IsValid() {
		return ""
	}
	return p.Address.String()
}

// For returns the account that the principal acts for: its own if named is zero. It may refuse another one.
func (p Principal) For(named ident.UserID) (ident.UserID, error) {
	switch {
	case !p.IsKnown(), named == p.Account:
		return named, nil
	case named.IsZero():
		return p.Account, nil
	case p.ActsForOthers:
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
func (r *Refusal) SetHeaders(answer http.Header) {
	for name, values := range r.Header {
		answer[name] = values
	}
}

// Forbidden returns the refusal of a caller who may not do this.
func Forbidden(detail string) *Refusal {
	return &Refusal{Status: http.StatusForbidden, Code: "forbidden", Detail: detail}
}
