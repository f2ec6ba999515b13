package es_test

import (
	"errors"
	"strings"
	"testing"

	"example.com/threads/es"
	"example.com/threads/es/estest/notebook"
)

func TestTheFormOfAnID(t *testing.T) {
	const ulid = "01H42KBHCWEBAGHA6WX8RP6X68"
	for _, id := range []es.AggregateID{{Type: "order", ID: ulid}, {Tenant: "acme", Type: "order-2_x", ID: ulid}} {
		if err := id.Check(); err != nil {
			t.Error(err)
		}
		if read, err := es.ParseAggregateID(id.Tenant, id.String()); read != id || err != nil {
			t.Errorf("%+v is read as %+v, %v", id, read, err)
		}
	}
	for name, id := range map[string]es.AggregateID{
		"empty":               {},
		"no id":               {Type: "order"},
		"no ulid":             {Type: "order", ID: "1"},
		"a small ulid":        {Type: "order", ID: "01h42kbhcwebagha6wx8rp6x68"},
		"a uuid":              {Type: "order", ID: "01890535-c59c-72d5-08a8-dcea316374c8"},
		"the zero ulid":       {Type: "order", ID: "00000000000000000000000000"},
		"no type":             {ID: ulid},
		"not a type":          {Type: "Order", ID: ulid},
		"not a tenant's code": {Tenant: "ACME!", Type: "order", ID: ulid},
		"two tenants":         {Tenant: "a#b", Type: "order", ID: ulid},
	} {
		if err := id.Check(); es.KindOf(err) != es.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Stores would take any text, but what is stored under it is in no rows.
func TestAServiceRefusesOtherIDs(t *testing.T) {
	service := es.NewService(notebook.Aggregate(), nil, es.Settings{})
	for _, id := range []string{"n-1", "01h42kbhcwebagha6wx8rp6x68"} {
		var invalid *es.InvalidError
		if _, err := service.Handle(t.Context(), request(ada, id, say(ada, "hello"))); !errors.As(err, &invalid) || invalid.Field != "id" {
			t.Errorf("%q: %v", id, err)
		}
	}
	other := request(ada, notebook.NewID(), say(ada, "hello"))
	other.Caller.Tenant = "ACME!"
	if _, err := service.Handle(t.Context(), other); es.KindOf(err) != es.Invalid {
		t.Errorf("a tenant that is none: %v", err)
	}
	for _, id := range []string{strings.Repeat("~", 129), "two words", "naïve", "\xff"} {
		of := request(ada, notebook.NewID(), say(ada, "hello"))
		of.Caller.CorrelationID = id
		var invalid *es.InvalidError
		if _, err := service.Handle(t.Context(), of); !errors.As(err, &invalid) || invalid.Field != "correlation_id" {
			t.Errorf("the correlation id %q: %v", id, err)
		}
	}
}
