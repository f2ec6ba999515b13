package es

import "regexp"

// Tenant is the code of the owner of aggregates. A tenant sees and changes only its own. The default tenant has the
// empty code; it is that of callers that name no tenant.
type Tenant string

var tenantCode = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// ParseTenant checks a tenant's code that comes from outside: empty, or 1 to 32 characters of a-z, 0-9 and -. Anything
// else is an [InvalidError].
func ParseTenant(code string) (Tenant, error) {
	if code != "" && !tenantCode.MatchString(code) {
		return "", &InvalidError{Field: "tenant", Reason: "must be 1 to 32 characters out of a-z, 0-9 and -"}
	}
	return Tenant(code), nil
}

// String returns the code.
func (t Tenant) String() string { return string(t) }
