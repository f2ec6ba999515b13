package usecase

import "regexp"

// Tenant is whose aggregates these are. A tenant sees and changes its own only. The zero value is the tenant with the
// empty code, which is the one of callers who name none.
type Tenant struct{ code string }

var tenantCode = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// ParseTenant reads a tenant's code: 1 to 32 characters out of a-z, 0-9 and -, or none. Anything else is a
// [InvalidError].
func ParseTenant(code string) (Tenant, error) {
	if code != "" && !tenantCode.MatchString(code) {
		return Tenant{}, &InvalidError{Field: "tenant", Reason: "must be 1 to 32 characters out of a-z, 0-9 and -"}
	}
	return Tenant{code}, nil
}

// String is the tenant's code.
func (t Tenant) String() string { return t.code }

// Key names an aggregate: its type, such as "order", and the text of its ULID, within a tenant. An id alone names
// nothing: what another tenant has does not exist.
type Key struct {
	Tenant   Tenant
	Type, ID string
}

// String is the key without its tenant, as event stores write it.
func (k Key) String() string { return k.Type + "-" + k.ID }
