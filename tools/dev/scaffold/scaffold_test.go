package main

import (
	"os"
	"strings"
	"testing"
)

func TestNamesThatAreNone(t *testing.T) {
	for _, name := range []string{"", "Order", "purchase order", "../order", "1st"} {
		if files, err := filesOf("../../..", name, true); err == nil || !strings.Contains(err.Error(), "NAME=order") {
			t.Errorf("%q: %d files, %v", name, len(files), err)
		}
	}
	// Existing files must not be overwritten.
	if _, err := filesOf("../../..", "ident", false); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("ident: %v", err)
	}
	// A name that this application or Go uses must be refused, too.
	taken := []string{
		"type", "query", "event", "string", "error", // words of Go, and of all APIs
		"time", "json", "es", "rest", "cmp", // packages
		"open", "planned", "priority", // of the template
		"viewer", "reader", "by", "setting", // of the layers
		"position", "checkpoint", "group", "key", // of the tables
	}
	taken = append(taken, "account", "thread", "message", "member", "role") // extra:chat
	taken = append(taken, "tenant")                                         // extra:tenants
	taken = append(taken, "task")                                           // extra:tasks
	for _, name := range taken {
		if _, err := filesOf("../../..", name, false); err == nil || !strings.Contains(err.Error(), "is taken") {
			t.Errorf("%q is taken: %v", name, err)
		}
	}
	for _, name := range []string{"order", "invoice", "ticket", "customer", "booking", "product", "box", "city", "address", "stock", "payment", "shipment", "article"} {
		if _, err := os.Stat("../../../domain/" + name); err == nil {
			continue // somebody has written it
		}
		if _, err := filesOf("../../..", name, true); err != nil {
			t.Error(err)
		}
	}
}
