package tenants_test

import (
	"testing"

	"example.com/threads/extras/tenants"
	"example.com/threads/tests/codectest"
)

const aTenant = "01H42K4ABWQ5V2XQEP3A48VE0Z"

// All events in their current form.
var today = []tenants.Event{tenants.Created{Code: "acme-2"}, tenants.Suspended{Code: "acme-2"}, tenants.Reactivated{Code: "acme-2"}}

func TestEvents(t *testing.T) {
	codectest.Events(t, "example.com/threads/extras/tenants", tenants.Events(), aTenant, today...)
}

func TestSnapshots(t *testing.T) {
	active := tenants.Tenant{}.Apply(today[0])
	codectest.Snapshots(t, "tenant", tenants.Aggregate().StateCodec(), aTenant, map[string]tenants.Tenant{
		"snapshot-2.json": active, "snapshot-2-suspended.json": active.Apply(today[1]),
	}, "snapshot-1.json", "snapshot-1-suspended.json")
}
