package access

import (
	"slices"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
)

// The scopes of tokens: that of each right, and acting for another account of the tenant, for imports and process
// managers.
const (
	scopePrefix = "threads:"
	actAs       = "act_as"
)

func scopeOf(right admission.Right) string { return scopePrefix + string(right) }

// Identity is whom a verified token was issued to.
type Identity struct {
	admission.Principal
	Expires time.Time // zero: never
}

// NewIdentity returns the identity in the claims of a token. account is a ULID or its UUID form; an empty tenant is the
// tenant with the empty code.
func NewIdentity(account, tenant string, scopes []string, expires time.Time) (Identity, error) {
	id, err := ident.Parse[ident.UserAccount](account)
	if err != nil {
		return Identity{}, Unauthenticated("the token names no account: its account claim must be a ULID or a UUID")
	}
	code, err := es.ParseTenant(tenant)
	if err != nil {
		return Identity{}, Unauthenticated("the token's tenant claim must be 1 to 32 characters out of a-z, 0-9 and -")
	}
	identity := Identity{admission.Principal{Account: id, Tenant: code, ActsForOthers: slices.Contains(scopes, actAs)}, expires}
	for _, right := range []admission.Right{admission.Read, admission.Write, admission.Operate} {
		if slices.Contains(scopes, scopeOf(right)) {
			identity.Rights = append(identity.Rights, right)
		}
	}
	return identity, nil
}

// mayAsk returns the principal of a request in the tenant that it names, or why it is refused.
func (i Identity) mayAsk(ask admission.Ask) (admission.Principal, error) {
	principal := i.Principal
	switch named := ask.Tenant; {
	case !i.IsKnown() || ask.AnyTenant && i.IsOperator() && named != "":
		principal.Tenant = named
	case named != "" && named != i.Tenant:
		return principal, admission.Forbidden("the token is for another tenant; leave the header X-Tenant-Code out")
	}
	if !i.May(ask.Rights...) {
		return principal, MissingScope(ask.Rights[0])
	}
	return principal, nil
}
