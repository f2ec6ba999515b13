package tenant_test

import (
	"testing"

	registry "example.com/threads/extras/tenants"
	"example.com/threads/extras/tenants/tenant"
	"example.com/threads/tests/codectest"
)

const aTenant = "01H42K4ABWQ5V2XQEP3A48VE0Z"

// All events in their current form. Golden files are only ever added, so that old events stay readable. Run with
// UPDATE_GOLDEN=1 to write missing files; it never changes one.
func today(t *testing.T) []tenant.Event {
	code, err := tenant.ParseCode("acme-2")
	if err != nil {
		t.Fatal(err)
	}
	return []tenant.Event{tenant.Created{Code: code}, tenant.Suspended{Code: code}, tenant.Reactivated{Code: code}}
}

func TestEvents(t *testing.T) {
	codectest.Events(t, "example.com/threads/extras/tenants/tenant", tenant.Events(), aTenant, today(t)...)
}

func TestSnapshots(t *testing.T) {
	events := today(t)
	active := tenant.Tenant{}.Apply(events[0])
	codectest.Snapshots(t, "tenant", registry.Aggregate().StateCodec(), aTenant, map[string]tenant.Tenant{
		"snapshot-2.json": active, "snapshot-2-suspended.json": active.Apply(events[1]),
	}, "snapshot-1.json", "snapshot-1-suspended.json")
}
