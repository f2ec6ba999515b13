package main

import (
	"strings"
	"testing"

	"example.com/threads/tools/dev/internal/treecopy"
)

// A new aggregate must be a good start: it builds, its tests pass, and it works in the whole program.
func TestAFreshAggregateWorks(t *testing.T) {
	root := treecopy.Of(t, "../../..")
	if err := run(t.Context(), root, "voucher"); err != nil {
		t.Fatal(err)
	}
	treecopy.Do(t, root, "go", "vet", "./cmd/...", "./domain/...", "./usecase/...", "./interfaceadaptor/...", "./rdb-migration/...")
	treecopy.Do(t, root, "go", "test", "./domain/voucher", "./interfaceadaptor/eventjson", "./tests/architecture")
	// The last of these packages sends commands to the running program as several actors, and queries the results.
	treecopy.Do(t, root, "go", "test", "-run", "Voucher|Schema|WhoMay", "./interfaceadaptor/rest", "./interfaceadaptor/readmodel/chatrows", "./interfaceadaptor/graphql", "./cmd/standalone")
	// extra:publishing {
	treecopy.Do(t, root, "go", "test", "-run", "Publish|Registered", "./cmd/read-model-updater/projections", "./extras/publishing")
	// extra:publishing }
	if unformatted := treecopy.Do(t, root, "gofmt", "-l", "."); unformatted != "" {
		t.Errorf("gofmt would change %s", unformatted)
	}

	// Existing files must not be overwritten.
	if err := run(t.Context(), root, "voucher"); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("a second time: %v", err)
	}
}

func TestNamesThatAreNone(t *testing.T) {
	for _, name := range []string{"", "Order", "purchase order", "../order", "1st"} {
		if files, err := filesOf("../../..", name); err == nil || !strings.Contains(err.Error(), "NAME=order") {
			t.Errorf("%q: %d files, %v", name, len(files), err)
		}
	}
	// A name that this application or Go uses must be refused, too.
	taken := []string{"message", "type", "query"}
	taken = append(taken, "account", "thread") // extra:chat
	for _, name := range taken {
		if _, err := filesOf("../../..", name); err == nil {
			t.Errorf("%q is taken, but there is no error", name)
		}
	}
}
