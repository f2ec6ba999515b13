package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"example.com/threads/tools/dev/internal/treecopy"
)

// A new aggregate must be a good start, with and without a process manager: all builds, and its tests pass.
func TestAFreshAggregateWorks(t *testing.T) {
	root := treecopy.Of(t, "../../..")
	var said strings.Builder
	if err := run(t.Context(), &said, root, "order", true); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), &said, root, "voucher", false); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"written: domain/order/order.go", "written: usecase/chat/replaceorders.go", "changed: cmd/write-api/commands/commands.go"} {
		if !strings.Contains(said.String(), line+"\n") {
			t.Errorf("%q is not said in:\n%s", line, said.String())
		}
	}
	treecopy.Do(t, root, "go", "vet", "./...")
	treecopy.Do(t, root, "extras/page/src/node_modules/.bin/tsc", "-p", "extras/page/src") // extra:page
	treecopy.Do(t, root, "go", "test", "-run", "Order|Voucher", "./interfaceadaptor/readmodel/chatrows")
	treecopy.WithoutServices(t)
	treecopy.Do(t, root, "go", "test", "-short", "./domain/...", "./usecase/...", "./interfaceadaptor/...", "./cmd/write-api/...", "./cmd/read-api/...", "./cmd/read-model-updater/...", "./cmd/standalone", "./tests/architecture", "./extras/publishing")
	// These send commands to the running program as several actors, and query the results.
	treecopy.Do(t, root, "go", "test", "-run", "Order|Voucher|WhoMay", "./cmd/standalone")
	if unformatted := treecopy.Do(t, root, "gofmt", "-l", "."); unformatted != "" {
		t.Errorf("gofmt would change %s", unformatted)
	}
	if marked := treecopy.Do(t, root, "sh", "-c", "grep -rnE '(//|#) process( [{}])?$' domain usecase interfaceadaptor cmd docs || true"); marked != "" {
		t.Errorf("marks are left:\n%s", marked)
	}

	quoted(t, root)

	// Existing files must not be overwritten.
	if err := run(t.Context(), &said, root, "voucher", false); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("a second time: %v", err)
	}
}

// quoted checks that the code in the lesson about the scaffold is what it has written.
func quoted(t *testing.T, root string) {
	t.Helper()
	inOneLine := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	code := inOneLine(treecopy.Do(t, root, "sh", "-c", "cat $(find . -name '*order*.go')"))
	lesson, err := os.ReadFile(filepath.Join(root, "docs/tutorial/3-an-aggregate.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(lesson), -1)
	for _, block := range blocks {
		for line := range strings.SplitSeq(strings.TrimSpace(block[1]), "\n") {
			if !strings.Contains(code, inOneLine(line)) {
				t.Errorf("the lesson says what the scaffold does not write: %s", line)
			}
		}
	}
	if len(blocks) < 5 {
		t.Errorf("the lesson has %d blocks of code", len(blocks))
	}
}

func TestNamesThatAreNone(t *testing.T) {
	for _, name := range []string{"", "Order", "purchase order", "../order", "1st"} {
		if files, err := filesOf("../../..", name, true); err == nil || !strings.Contains(err.Error(), "NAME=order") {
			t.Errorf("%q: %d files, %v", name, len(files), err)
		}
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
