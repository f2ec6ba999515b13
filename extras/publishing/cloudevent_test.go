package publishing_test

import (
	"encoding/json"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"example.com/threads/es"
	"example.com/threads/extras/publishing"
	"example.com/threads/extras/publishing/brokertest"
)

// The attributes are those that subscribers were promised.
func TestCloudEvent(t *testing.T) {
	for _, tenant := range []string{"", "acme"} {
		event := brokertest.Event(7, 3)
		event.Tenant = testTenant(t, tenant)
		body, err := publishing.Encode(event)
		if err != nil {
			t.Fatal(err)
		}
		aid := event.Aggregate().String()
		var found map[string]any
		if err := json.Unmarshal(body, &found); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"specversion": "1.0", "id": event.EventID, "source": "/" + tenant + "/" + aid, "type": "ThreadRenamed", "time": "2026-01-02T03:04:05.678901Z",
			"subject": aid, "partitionkey": aid, "seqnr": 7.0, "correlationid": "a talk", "causationid": "a cause",
			"datacontenttype": "application/json", "data": map[string]any{"name": "xxx"},
		}
		if diff := gocmp.Diff(want, found); diff != "" {
			t.Error(diff)
		}
	}
}

func testTenant(t *testing.T, code string) es.Tenant {
	t.Helper()
	tenant, err := es.ParseTenant(code)
	if err != nil {
		t.Fatal(err)
	}
	return tenant
}
