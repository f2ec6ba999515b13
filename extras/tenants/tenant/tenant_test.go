package tenant_test

import (
	"strings"
	"testing"

	"example.com/threads/extras/tenants/tenant"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/sealed"
)

var (
	tenants = kit.Decider[tenant.Tenant, tenant.Command, tenant.Event]{Decide: tenant.Decide, Apply: tenant.Tenant.Apply}

	acme, _     = tenant.ParseCode("acme")
	created     = tenant.Created{Code: acme}
	suspended   = tenant.Suspended{Code: acme}
	reactivated = tenant.Reactivated{Code: acme}
)

func TestRules(t *testing.T) {
	rule := func(name string) kit.Rule[tenant.Tenant, tenant.Command, tenant.Event] { return tenants.Rule(t, name) }

	rule("a tenant is registered").When(tenant.Create{Code: acme}).Then(created)
	rule("a tenant is registered once").Given(created).When(tenant.Create{Code: acme}).Rejected(tenant.ErrTenantExists)
	rule("a suspended tenant is not registered again").Given(created, suspended).When(tenant.Create{Code: acme}).Rejected(tenant.ErrTenantExists)

	rule("an active tenant is suspended").Given(created).When(tenant.Suspend{}).Then(suspended)
	rule("a tenant is suspended once").Given(created, suspended).When(tenant.Suspend{}).Rejected(tenant.ErrTenantSuspended)
	rule("an unknown tenant is not suspended").When(tenant.Suspend{}).Rejected(tenant.ErrTenantNotFound)

	rule("a suspended tenant is reactivated").Given(created, suspended).When(tenant.Reactivate{}).Then(reactivated)
	rule("an active tenant is not reactivated").Given(created).When(tenant.Reactivate{}).Rejected(tenant.ErrTenantActive)
	rule("a reactivated tenant is suspended again").Given(created, suspended, reactivated).When(tenant.Suspend{}).Then(suspended)
	rule("an unknown tenant is not reactivated").When(tenant.Reactivate{}).Rejected(tenant.ErrTenantNotFound)
}

func TestWhoIsActive(t *testing.T) {
	for _, c := range []struct {
		state tenant.Tenant
		want  bool
	}{
		{tenant.Tenant{}, false},
		{tenants.After(created), true},
		{tenants.After(created, suspended), false},
		{tenants.After(created, suspended, reactivated), true},
	} {
		if got := c.state.IsActive(); got != c.want {
			t.Errorf("%+v is active: %t", c.state, got)
		}
	}
}

func TestCodes(t *testing.T) {
	for _, code := range []string{"", "Acme", "a b", "a_b", "acme\n", strings.Repeat("a", 33)} {
		if _, err := tenant.ParseCode(code); err == nil {
			t.Errorf("%q is accepted as a code", code)
		}
	}
	other, err := tenant.ParseCode(strings.Repeat("9", 32))
	if err != nil {
		t.Fatal(err)
	}
	// The id is stored, so it must never change.
	if got := tenant.IDOf(acme).String(); got != "59NK54ZV55ECEB71PC9G7Y7G7N" {
		t.Errorf("the id of acme is %s", got)
	}
	if tenant.IDOf(acme) == tenant.IDOf(other) {
		t.Error("two codes have the same id")
	}
}

// Every command must be decided in every state, and every event and rejection must occur. A new one that the tests lack
// is named here.
func TestNothingIsForgotten(t *testing.T) {
	commands := []tenant.Command{tenant.Create{Code: acme}, tenant.Suspend{}, tenant.Reactivate{}}
	states := []tenant.Tenant{{}, tenants.After(created), tenants.After(created, suspended)}
	seen := kit.Try(tenant.Decide, states, commands)
	const pkg = "example.com/threads/extras/tenants/tenant"
	sealed.Check(t, "commands of this test", sealed.Types(t, pkg, "name"), seen.Commands)
	sealed.Check(t, "events that follow in this test", sealed.Types(t, pkg, "isEvent"), seen.Events)
	sealed.Check(t, "rejections of this test", sealed.Calls(t, pkg, "ident", "NotFound", "Forbidden", "Conflict"), seen.Codes)
	for _, command := range commands {
		if got := tenant.CommandName(command); got != "tenant."+sealed.Name(command) {
			t.Errorf("%T is called %q: its repeats would not be recognised", command, got)
		}
	}
}
