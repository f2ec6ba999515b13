package usecase

import (
	"regexp"

	"example.com/threads/domain/thread"
)

// Tenant is whose threads these are. A tenant sees and changes its own only. The zero value is the tenant with the
// empty code, which is the one of callers who name none.
type Tenant struct{ code string }

var tenantCode = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// ParseTenant reads a tenant's code: 1 to 32 characters out of a-z, 0-9 and -, or none. Anything else is a
// [thread.InvalidError].
func ParseTenant(code string) (Tenant, error) {
	if code != "" && !tenantCode.MatchString(code) {
		return Tenant{}, &thread.InvalidError{Field: "tenant", Reason: "must be 1 to 32 characters out of a-z, 0-9 and -"}
	}
	return Tenant{code}, nil
}

// String is the tenant's code.
func (t Tenant) String() string { return t.code }

// ThreadKey names a thread of a tenant. A thread's id alone names nothing: another tenant's thread does not exist.
type ThreadKey struct {
	Tenant Tenant
	Thread thread.ID
}
