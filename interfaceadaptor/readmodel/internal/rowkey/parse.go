package rowkey

import (
	"fmt"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
)

// The errors here do not wrap their causes, which would blame the one who asked for what a row is like.

// Thread is the key of a thread's row as the domain has it.
func (k Key) Thread() (usecase.Key, error) {
	tenant, id, err := Parse[thread.Thread](k)
	return chat.ThreadKey(tenant, id), err
}

// Parse reads a key that came from a row.
func Parse[T any](k Key) (usecase.Tenant, ident.Of[T], error) {
	tenant, err := usecase.ParseTenant(k.Tenant)
	if err != nil {
		return tenant, ident.Of[T]{}, fmt.Errorf("a row of the read model with tenant_code %q: %v", k.Tenant, err) //nolint:errorlint // see above
	}
	id, err := ParseID[T](k.ID)
	return tenant, id, err
}

// ParseID reads an identifier that came from a row.
func ParseID[T any](text string) (ident.Of[T], error) {
	id, err := ident.Parse[T](text)
	if err != nil {
		return id, fmt.Errorf("a row of the read model with the identifier %q: %v", text, err) //nolint:errorlint // see above
	}
	return id, nil
}
