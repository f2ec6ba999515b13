package main

import (
	"os"
	"slices"
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

// The comments of what is written must fit in their columns, also where the name is longer than that of the templates.
func TestLongNamesFit(t *testing.T) {
	files, err := filesOf("../../..", "warehouselocationassignments", true)
	if err != nil {
		t.Fatal(err)
	}
	moved := 0
	for _, f := range files {
		if !f.isNew || !strings.HasSuffix(f.path, ".go") {
			continue
		}
		text := wrapped(f.content)
		if text != f.content {
			moved++
		}
		if words := strings.Fields; !slices.Equal(words(strings.ReplaceAll(text, "// ", "")), words(strings.ReplaceAll(f.content, "// ", ""))) {
			t.Errorf("%s has other words:\n%s", f.path, text)
		}
		for i, line := range strings.Split(text, "\n") {
			before, _, comments := strings.Cut(line, "// ")
			if columns := len(line) + 3*strings.Count(before, "\t"); comments && columns > maxColumns {
				t.Errorf("%s:%d has %d columns: %s", f.path, i+1, columns, line)
			}
		}
	}
	if moved == 0 {
		t.Error("no comment of the templates is long: wrapping them is not needed")
	}
}
