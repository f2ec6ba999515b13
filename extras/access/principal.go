package access

import (
	"slices"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
)

// Scope is a permission of a token.
type Scope string

// The scopes.
const (
	Read    Scope = "threads:read"    // queries and subscriptions
	Write   Scope = "threads:write"   // commands
	Operate Scope = "threads:operate" // operations on the service, for its operators
	ActAs   Scope = "act_as"          // acting for another account of the tenant: for imports and process managers
)

// Principal is who sends a request. The zero value is an unverified one, with AUTH=none: it may name any account.
type Principal struct {
	account ident.UserID
	tenant  es.Tenant
	scopes  []string
	expires time.Time
}

// NewPrincipal returns the principal of a verified token. account is a ULID or its UUID form; an empty tenant is the
// tenant with the empty code.
func NewPrincipal(account, tenant string, scopes []string, expires time.Time) (Principal, error) {
	id, err := ident.Parse[ident.UserAccount](account)
	if err != nil {
		return Principal{}, Unauthenticated("the token names no account: its account claim must be a ULID or a UUID")
	}
	code, err := es.ParseTenant(tenant)
	if err != nil {
		return Principal{}, Unauthenticated("the token's tenant claim must be 1 to 32 characters out of a-z, 0-9 and -")
	}
	return Principal{account: id, tenant: code, scopes: scopes, expires: expires}, nil
}

// IsVerified reports whether the principal comes from a verified token.
func (p Principal) IsVerified() bool { return !p.account.IsZero() }

// Expires returns when the principal's token expires; zero: never.
func (p Principal) Expires() time.Time { return p.expires }

// Account returns the token's account; zero if not verified.
func (p Principal) Account() ident.UserID { return p.account }

// Client is the principal's key for rate limits; empty if not verified.
func (p Principal) Client() string {
	if !p.IsVerified() {
		return ""
	}
	return p.tenant.String() + "/" + p.account.String()
}

// For returns the account that the principal acts for: its own if named is zero. Another one is refused without the
// scope act_as.
func (p Principal) For(named ident.UserID) (ident.UserID, error) {
	switch {
	case !p.IsVerified(), named == p.account:
		return named, nil
	case named.IsZero():
		return p.account, nil
	case p.has(ActAs):
		return named, nil
	}
	return named, forbidden("the token is for another account; leave the account out, or use a token with the scope "+string(ActAs), "")
}

// In returns the tenant that the principal acts in: the token's. Another named tenant is refused; the zero value names
// none.
func (p Principal) In(named es.Tenant) (es.Tenant, error) {
	switch {
	case !p.IsVerified():
		return named, nil
	case named == es.Tenant("") || named == p.tenant:
		return p.tenant, nil
	}
	return named, forbidden("the token is for another tenant; leave the header X-Tenant-Code out", "")
}

// IsOperator reports whether the principal is one of the service's operators. With AUTH=none nobody is.
func (p Principal) IsOperator() bool { return p.IsVerified() && p.has(Operate) }

// Needs refuses a principal that lacks all of the scopes.
func (p Principal) Needs(scopes ...Scope) error {
	if p.IsVerified() && !slices.ContainsFunc(scopes, p.has) {
		return MissingScope(scopes[0])
	}
	return nil
}

// ActsForOthers reports whether the principal may name any account of the tenant.
func (p Principal) ActsForOthers() bool { return !p.IsVerified() || p.has(ActAs) }

func (p Principal) has(scope Scope) bool { return slices.Contains(p.scopes, string(scope)) }
