package main

import (
	"strings"
	"testing"

	"example.com/threads/tools/dev/internal/treecopy"
)

// A fresh aggregate is one that people can start from: it builds, its tests pass, and it can be used through the whole
// program.
func TestAFreshAggregateWorks(t *testing.T) {
	root := treecopy.Of(t, "../../..")
	if err := run(t.Context(), root, "order"); err != nil {
		t.Fatal(err)
	}
	treecopy.Do(t, root, "go", "vet", "./cmd/...", "./domain/...", "./usecase/...", "./interfaceadaptor/...", "./rdb-migration/...")
	treecopy.Do(t, root, "go", "test", "./domain/order", "./interfaceadaptor/ordercodec", "./tests/architecture")
	// The last of these posts commands to the running program, and reads what has become of them by GraphQL.
	treecopy.Do(t, root, "go", "test", "-run", "Order|Schema", "./interfaceadaptor/rest", "./interfaceadaptor/readmodel/chatrows", "./interfaceadaptor/graphql", "./cmd/standalone")
	treecopy.Do(t, root, "go", "test", "-run", "Publish", "./cmd/internal/updater")
	if unformatted := treecopy.Do(t, root, "gofmt", "-l", "."); unformatted != "" {
		t.Errorf("gofmt would change %s", unformatted)
	}

	// What is there is never overwritten.
	if err := run(t.Context(), root, "order"); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("a second time: %v", err)
	}
}

func TestNamesThatAreNone(t *testing.T) {
	for _, name := range []string{"", "Order", "purchase order", "../order", "1st"} {
		if files, err := filesOf("../../..", name); err == nil || !strings.Contains(err.Error(), "NAME=order") {
			t.Errorf("%q: %d files, %v", name, len(files), err)
		}
	}
	// One that is taken, by threads or by Go itself, is refused too.
	for _, name := range []string{"account", "thread", "message", "type", "query"} {
		if _, err := filesOf("../../..", name); err == nil {
			t.Errorf("%q is taken, and no error", name)
		}
	}
}

func TestWords(t *testing.T) {
	for name, want := range map[string]string{
		"order": "an order, orders, Order, Orders", "box": "a box, boxes, Box, Boxes", "city": "a city, cities, City, Cities", "day": "a day, days, Day, Days",
	} {
		if got := wordsOf(name).Replace("a gadget, gadgets, Gadget, Gadgets"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
