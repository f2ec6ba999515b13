package rowkey

import (
	"fmt"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
)

// The errors here do not wrap their causes, which would blame the one who asked for what a row is like.

// Thread is the key of a thread's row as the domain has it.
func (k Key) Thread() (usecase.ThreadKey, error) {
	tenant, id, err := Parse[thread.Thread](k)
	return usecase.ThreadKey{Tenant: tenant, Thread: id}, err
}

// Parse reads a key that came from a row.
func Parse[T any](k Key) (usecase.Tenant, thread.IDOf[T], error) {
	tenant, err := usecase.ParseTenant(k.Tenant)
	if err != nil {
		return tenant, thread.IDOf[T]{}, fmt.Errorf("a row of the read model with tenant_code %q: %v", k.Tenant, err) //nolint:errorlint // see above
	}
	id, err := ParseID[T](k.ID)
	return tenant, id, err
}

// ParseID reads an identifier that came from a row.
func ParseID[T any](text string) (thread.IDOf[T], error) {
	id, err := thread.ParseID[T](text)
	if err != nil {
		return id, fmt.Errorf("a row of the read model with the identifier %q: %v", text, err) //nolint:errorlint // see above
	}
	return id, nil
}
