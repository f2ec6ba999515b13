package tenants

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
)

func tenantOf(t *testing.T, code string) es.Tenant {
	t.Helper()
	tenant, err := es.ParseTenant(code)
	if err != nil {
		t.Fatal(err)
	}
	return tenant
}

// statusOf is the status of a refusal; 0: there is none.
func statusOf(err error) int {
	var refusal *admission.Refusal
	if !errors.As(err, &refusal) {
		return 0
	}
	return refusal.Status
}

func TestTenantsOfARegistry(t *testing.T) {
	now := time.UnixMilli(0)
	asked, active := 0, map[string]bool{"acme": true}
	var down error
	registry := newRegistry(func(_ context.Context, tenant es.Tenant) (bool, error) {
		asked++
		return active[tenant.String()], down
	}, func() time.Time { return now })
	expect := func(code string, want int) {
		t.Helper()
		if err := registry.admit(t.Context(), tenantOf(t, code)); statusOf(err) != want {
			t.Errorf("%q at %s: %v", code, now, err)
		}
	}
	const letIn = 0
	expect("acme", letIn)
	expect("other", http.StatusForbidden)
	expect("", letIn)
	expect("acme", letIn)
	if asked != 2 {
		t.Errorf("the registry was asked %d times about two tenants within a second", asked)
	}
	active["acme"], active["other"] = false, true
	expect("acme", letIn) // cached for at most a second
	now = now.Add(time.Second)
	expect("acme", http.StatusForbidden)
	expect("other", letIn)

	down = errors.New("down")
	now = now.Add(time.Second)
	if err := registry.admit(t.Context(), tenantOf(t, "other")); !errors.Is(err, down) {
		t.Errorf("without a registry: %v", err)
	}
}

// Requests for many unknown tenants must not fill the memory, and concurrent ones must share one query to the registry.
func TestTenantsAreAskedForTogether(t *testing.T) {
	began, proceed := make(chan struct{}), make(chan struct{})
	asked := 0
	now := time.Now()
	registry := newRegistry(func(_ context.Context, tenant es.Tenant) (bool, error) {
		if tenant.String() == "acme" {
			if asked++; asked == 1 {
				close(began)
			}
			<-proceed
		}
		return true, nil
	}, func() time.Time { return now })
	var waiting sync.WaitGroup
	acme := tenantOf(t, "acme")
	for range 50 {
		waiting.Go(func() {
			if err := registry.admit(t.Context(), acme); err != nil {
				t.Error(err)
			}
		})
	}
	<-began
	close(proceed)
	waiting.Wait()
	if asked != 1 {
		t.Errorf("concurrent requests led to %d queries to the registry", asked)
	}
	for i := range 30_000 {
		if err := registry.admit(t.Context(), tenantOf(t, fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if known := registry.known.Len(); known > 10_000 {
		t.Errorf("%d tenants are cached", known)
	}
}
