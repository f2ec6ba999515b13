package keystoretest

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/extras/erasure"
)

// Memory is an [erasure.Store] in memory.
type Memory struct {
	mutex   sync.Mutex
	Entries map[string]erasure.Entry // by tenant and owner, with a slash between them
	Calls   int                      // of Keys
	Fails   error                    // of Keys
}

// NewMemory returns a store without entries.
func NewMemory() *Memory { return &Memory{Entries: map[string]erasure.Entry{}} }

// Keys implements [erasure.Store].
func (m *Memory) Keys(_ context.Context, tenant es.Tenant, owners []string) (map[string]erasure.Entry, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.Calls++
	found := map[string]erasure.Entry{}
	for _, owner := range owners {
		if entry, exists := m.Entries[tenant.String()+"/"+owner]; exists {
			found[owner] = entry
		}
	}
	return found, m.Fails
}

// Create implements [erasure.Store].
func (m *Memory) Create(_ context.Context, tenant es.Tenant, owner string, wrapped []byte) (erasure.Entry, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	name := tenant.String() + "/" + owner
	if _, exists := m.Entries[name]; !exists {
		m.Entries[name] = erasure.Entry{Wrapped: wrapped}
	}
	return m.Entries[name], nil
}

// Destroy implements [erasure.Store].
func (m *Memory) Destroy(_ context.Context, tenant es.Tenant, owner string, at time.Time) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.Entries[tenant.String()+"/"+owner] = erasure.Entry{ErasedAt: at}
	return nil
}

// Master wraps and unwraps a key, and returns the wrapped form.
func Master(t *testing.T, m erasure.Master) []byte {
	t.Helper()
	key := bytes.Repeat([]byte("k"), 32)
	wrapped, err := m.Wrap(t.Context(), key, "acme/ada")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(wrapped, key) {
		t.Error("the wrapped key contains the key")
	}
	if got, err := m.Unwrap(t.Context(), wrapped, "acme/ada"); err != nil || !bytes.Equal(got, key) {
		t.Errorf("unwrapped %q, %v", got, err)
	}
	if _, err := m.Unwrap(t.Context(), wrapped, "acme/bob"); err == nil {
		t.Error("a key was unwrapped for another owner")
	}
	return wrapped
}
