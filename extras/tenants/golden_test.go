package tenants_test

import (
	"testing"

	"example.com/threads/extras/tenants"
	"example.com/threads/tests/codectest"
)

const aTenant = "01H42K4ABWQ5V2XQEP3A48VE0Z"

// All events in their current form.
func today(t *testing.T) []tenants.Event {
	code, err := tenants.ParseCode("acme-2")
	if err != nil {
		t.Fatal(err)
	}
	return []tenants.Event{tenants.Created{Code: code}, tenants.Suspended{Code: code}, tenants.Reactivated{Code: code}}
}

func TestEvents(t *testing.T) {
	codectest.Events(t, "example.com/threads/extras/tenants", tenants.Events(), aTenant, today(t)...)
}

func TestSnapshots(t *testing.T) {
	events := today(t)
	active := tenants.Tenant{}.Apply(events[0])
	codectest.Snapshots(t, "tenant", tenants.Aggregate().StateCodec(), aTenant, map[string]tenants.Tenant{
		"snapshot-2.json": active, "snapshot-2-suspended.json": active.Apply(events[1]),
	}, "snapshot-1.json", "snapshot-1-suspended.json")
}
