package thread_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/thread/threadtest"
	"example.com/threads/tests/sealed"
)

const pkg = "example.com/threads/domain/thread"

// Every command, event and rejection of the domain must occur in the tests. A new one that they lack is named here.
func TestNothingIsForgotten(t *testing.T) {
	commands, events, codes := map[string]thread.Command{}, map[string]bool{}, map[string]bool{}
	for _, step := range threadtest.Sample() {
		commands[sealed.Name(step.Command)] = step.Command
		for _, event := range step.Events {
			events[sealed.Name(event)] = true
		}
		var rejection *ident.Rejection
		if errors.As(step.Err, &rejection) {
			codes[rejection.Code()] = true
		}
	}
	sealed.Check(t, "commands that threadtest.History draws", sealed.Types(t, pkg, "name"), slices.Collect(maps.Keys(commands)))
	sealed.Check(t, "events that follow from the commands of threadtest.History", sealed.Types(t, pkg, "apply"), slices.Collect(maps.Keys(events)))
	declared := sealed.Calls(t, pkg, "ident", "NotFound", "Forbidden", "Conflict")
	sealed.Check(t, "rejections in threadtest.History", declared, slices.Collect(maps.Keys(codes)))

	for name, command := range commands {
		if got := thread.CommandName(command); got != "thread."+name {
			t.Errorf("%s is called %q: its repeats would not be recognised", name, got)
		}
	}
}
