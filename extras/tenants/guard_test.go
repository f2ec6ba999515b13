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
	"example.com/threads/es/estest/testenv"
	"example.com/threads/interfaceadaptor/admission"
)

// admit returns the refusal of a request of a tenant.
func admit(t *testing.T, isActive IsActive, code es.Tenant) error {
	t.Helper()
	return (&guard{isActive: isActive, tenant: code, log: slog.New(slog.DiscardHandler)}).admit(t.Context())
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
	testenv.Bubble(t, func(t *testing.T) {
		asked, active := 0, map[string]bool{"acme": true}
		var down error
		isActive := Settings{Registered: true}.Active(func(_ context.Context, tenant es.Tenant) (bool, error) {
			asked++
			return active[tenant.String()], down
		})
		expect := func(code es.Tenant, want int) {
			t.Helper()
			if err := admit(t, isActive, code); statusOf(err) != want {
				t.Errorf("%q: %v", code, err)
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
		<-time.After(time.Second)
		expect("acme", http.StatusForbidden)
		expect("other", letIn)

		down = errors.New("down")
		<-time.After(time.Second)
		expect("other", http.StatusServiceUnavailable)
	})
}

// Requests for many unknown tenants must not fill the memory, and concurrent ones must share one query to the registry.
func TestTenantsAreAskedForTogether(t *testing.T) {
	testenv.Bubble(t, func(t *testing.T) { // in which no time passes
		began, proceed := make(chan struct{}), make(chan struct{})
		asked := 0
		isActive := Settings{Registered: true}.Active(func(_ context.Context, tenant es.Tenant) (bool, error) {
			if tenant.String() == "acme" {
				if asked++; asked == 1 {
					close(began)
				}
				<-proceed
			}
			return true, nil
		})
		ask := func(code es.Tenant) {
			if err := admit(t, isActive, code); err != nil {
				t.Error(err)
			}
		}
		var waiting sync.WaitGroup
		for range 50 {
			waiting.Go(func() { ask("acme") })
		}
		<-began
		close(proceed)
		waiting.Wait()
		if asked != 1 {
			t.Errorf("concurrent requests led to %d queries to the registry", asked)
		}
		for i := range 10_000 {
			ask(es.Tenant(fmt.Sprint(i)))
		}
		if ask("acme"); asked != 2 {
			t.Error("more than 10,000 tenants are cached")
		}
	})
}
