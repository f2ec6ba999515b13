package tenants

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/admission"
)

// asking is the guard of a request of a tenant.
func asking(t *testing.T, registry *registry, code string) *guard {
	t.Helper()
	tenant, err := es.ParseTenant(code)
	if err != nil {
		t.Fatal(err)
	}
	return &guard{registry: registry, tenant: tenant, log: slog.New(slog.DiscardHandler)}
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
		if err := asking(t, registry, code).admit(t.Context()); statusOf(err) != want {
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
	expect("other", http.StatusServiceUnavailable)
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
	acme := asking(t, registry, "acme")
	for range 50 {
		waiting.Go(func() {
			if err := acme.admit(t.Context()); err != nil {
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
		if err := asking(t, registry, fmt.Sprint(i)).admit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if known := registry.known.Len(); known > 10_000 {
		t.Errorf("%d tenants are cached", known)
	}
}
