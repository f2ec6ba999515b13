package access

import (
	"slices"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/usecase"
)

// Scope is something that a token may allow.
type Scope string

// The scopes.
const (
	Read    Scope = "threads:read"    // queries and subscriptions
	Write   Scope = "threads:write"   // commands
	Operate Scope = "threads:operate" // operations for those who run the service
	ActAs   Scope = "act_as"          // naming another account of the tenant: for imports and process managers
)

// Principal is who asks. The zero value is anybody, with AUTH=none: whoever they say they are is believed.
type Principal struct {
	account ident.UserID
	tenant  usecase.Tenant
	scopes  []string
	expires time.Time
}

// NewPrincipal is who a verified token speaks for. account is a ULID or the UUID form of one; without a tenant it is
// the one with the empty code.
func NewPrincipal(account, tenant string, scopes []string, expires time.Time) (Principal, error) {
	id, err := ident.Parse[ident.UserAccount](account)
	if err != nil {
		return Principal{}, Unauthenticated("the token names no account: its account claim must be a ULID or a UUID")
	}
	code, err := usecase.ParseTenant(tenant)
	if err != nil {
		return Principal{}, Unauthenticated("the token's tenant claim must be 1 to 32 characters out of a-z, 0-9 and -")
	}
	return Principal{account: id, tenant: code, scopes: scopes, expires: expires}, nil
}

// IsVerified tells that a token speaks for the principal; it does not for anybody.
func (p Principal) IsVerified() bool { return !p.account.IsZero() }

// Expires is when the principal's token ends; zero: never.
func (p Principal) Expires() time.Time { return p.expires }

// Account is the token's account; zero for anybody.
func (p Principal) Account() ident.UserID { return p.account }

// Client names the principal among those whose requests are counted; empty for anybody.
func (p Principal) Client() string {
	if !p.IsVerified() {
		return ""
	}
	return p.tenant.String() + "/" + p.account.String()
}

// For is the account that the principal acts or looks for: its own where named is zero. Another one is refused.
func (p Principal) For(named ident.UserID) (ident.UserID, error) {
	switch {
	case !p.IsVerified(), named == p.account:
		return named, nil
	case named.IsZero():
		return p.account, nil
	case p.has(ActAs):
		return named, nil
	}
	return named, forbidden("the token is of another account; leave the account out, or use a token with the scope "+string(ActAs), "")
}

// In is the tenant that the principal acts and looks in: the token's. A header that names another one is refused; one
// that names none is the zero value.
func (p Principal) In(named usecase.Tenant) (usecase.Tenant, error) {
	switch {
	case !p.IsVerified():
		return named, nil
	case named == usecase.Tenant{} || named == p.tenant:
		return p.tenant, nil
	}
	return named, forbidden("the token is of another tenant; leave the header X-Tenant-Code out", "")
}

// Needs refuses a principal without the scope.
func (p Principal) Needs(scope Scope) error {
	if p.IsVerified() && !p.has(scope) {
		return MissingScope(scope)
	}
	return nil
}

// ActsForOthers tells that the principal may name any account of the tenant.
func (p Principal) ActsForOthers() bool { return !p.IsVerified() || p.has(ActAs) }

func (p Principal) has(scope Scope) bool { return slices.Contains(p.scopes, string(scope)) }
