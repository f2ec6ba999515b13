package es

import "regexp"

// Tenant owns aggregates. A tenant sees and changes only its own. The zero value is the default tenant: its code is
// empty, and it is used for callers that name no tenant.
type Tenant struct{ code string }

var tenantCode = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// ParseTenant parses a tenant code: empty, or 1 to 32 characters of a-z, 0-9 and -. Anything else is an [InvalidError].
func ParseTenant(code string) (Tenant, error) {
	if code != "" && !tenantCode.MatchString(code) {
		return Tenant{}, &InvalidError{Field: "tenant", Reason: "must be 1 to 32 characters out of a-z, 0-9 and -"}
	}
	return Tenant{code}, nil
}

// String returns the tenant's code.
func (t Tenant) String() string { return t.code }

// Key identifies an aggregate by tenant, type (such as "order") and the text of its ULID. The tenant is part of the
// key: the aggregates of another tenant do not exist for the caller.
type Key struct {
	Tenant   Tenant
	Type, ID string
}

// String returns the key without its tenant, as event stores write it.
func (k Key) String() string { return k.Type + "-" + k.ID }
