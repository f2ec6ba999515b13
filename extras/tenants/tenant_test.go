package tenants_test

import (
	"strings"
	"testing"

	"example.com/threads/extras/tenants"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/sealed"
)

var (
	rules = kit.Decider[tenants.Tenant, tenants.Command, tenants.Event]{Decide: tenants.Decide, Apply: tenants.Tenant.Apply}

	acme, _     = tenants.ParseCode("acme")
	created     = tenants.Created{Code: acme}
	suspended   = tenants.Suspended{Code: acme}
	reactivated = tenants.Reactivated{Code: acme}
)

func TestRules(t *testing.T) {
	rule := func(name string) kit.Rule[tenants.Tenant, tenants.Command, tenants.Event] { return rules.Rule(t, name) }

	rule("a tenant is registered").When(tenants.Create{Code: acme}).Then(created)
	rule("a tenant is registered once").Given(created).When(tenants.Create{Code: acme}).Rejected(tenants.ErrTenantExists)
	rule("a suspended tenant is not registered again").Given(created, suspended).When(tenants.Create{Code: acme}).Rejected(tenants.ErrTenantExists)

	rule("an active tenant is suspended").Given(created).When(tenants.Suspend{}).Then(suspended)
	rule("a tenant is suspended once").Given(created, suspended).When(tenants.Suspend{}).Rejected(tenants.ErrTenantSuspended)
	rule("an unknown tenant is not suspended").When(tenants.Suspend{}).Rejected(tenants.ErrTenantNotFound)

	rule("a suspended tenant is reactivated").Given(created, suspended).When(tenants.Reactivate{}).Then(reactivated)
	rule("an active tenant is not reactivated").Given(created).When(tenants.Reactivate{}).Rejected(tenants.ErrTenantActive)
	rule("a reactivated tenant is suspended again").Given(created, suspended, reactivated).When(tenants.Suspend{}).Then(suspended)
	rule("an unknown tenant is not reactivated").When(tenants.Reactivate{}).Rejected(tenants.ErrTenantNotFound)
}

func TestWhoIsActive(t *testing.T) {
	for _, c := range []struct {
		state tenants.Tenant
		want  bool
	}{
		{tenants.Tenant{}, false},
		{rules.After(created), true},
		{rules.After(created, suspended), false},
		{rules.After(created, suspended, reactivated), true},
	} {
		if got := c.state.IsActive(); got != c.want {
			t.Errorf("%+v is active: %t", c.state, got)
		}
	}
}

func TestCodes(t *testing.T) {
	for _, code := range []string{"", "Acme", "a b", "a_b", "acme\n", strings.Repeat("a", 33)} {
		if _, err := tenants.ParseCode(code); err == nil {
			t.Errorf("%q is accepted as a code", code)
		}
	}
	other, err := tenants.ParseCode(strings.Repeat("9", 32))
	if err != nil {
		t.Fatal(err)
	}
	// The id is stored, so it must never change.
	if got := tenants.IDOf(acme).String(); got != "59NK54ZV55ECEB71PC9G7Y7G7N" {
		t.Errorf("the id of acme is %s", got)
	}
	if tenants.IDOf(acme) == tenants.IDOf(other) {
		t.Error("two codes have the same id")
	}
}

// Every command must be decided in every state, and every event and rejection must occur. A new one that the tests lack
// is named here.
func TestNothingIsForgotten(t *testing.T) {
	commands := []tenants.Command{tenants.Create{Code: acme}, tenants.Suspend{}, tenants.Reactivate{}}
	states := []tenants.Tenant{{}, rules.After(created), rules.After(created, suspended)}
	seen := kit.Try(tenants.Decide, states, commands)
	const pkg = "example.com/threads/extras/tenants"
	sealed.Check(t, "commands of this test", sealed.Types(t, pkg, "name"), seen.Commands)
	sealed.Check(t, "events that follow in this test", sealed.Types(t, pkg, "isEvent"), seen.Events)
	sealed.Check(t, "rejections of this test", sealed.Calls(t, pkg, "ident", "NotFound", "Forbidden", "Conflict"), seen.Codes)
	for _, command := range commands {
		if got := tenants.CommandName(command); got != "tenant."+sealed.Name(command) {
			t.Errorf("%T is called %q: its repeats would not be recognised", command, got)
		}
	}
}
