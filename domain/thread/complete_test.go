package thread_test

import (
	"testing"

	"example.com/threads/domain/thread"
	"example.com/threads/domain/thread/threadtest"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/sealed"
)

const pkg = "example.com/threads/domain/thread"

// Every command, event and rejection of the domain must occur in the tests. A new one that they lack is named here.
func TestNothingIsForgotten(t *testing.T) {
	commands := map[string]thread.Command{}
	var seen kit.Seen
	for _, step := range threadtest.Sample() {
		commands[sealed.Name(step.Command)] = step.Command
		kit.Add(&seen, step.Command, step.Events, step.Err)
	}
	sealed.Check(t, "commands that threadtest.History draws", sealed.Types(t, pkg, "name"), seen.Commands)
	sealed.Check(t, "events that follow from the commands of threadtest.History", sealed.Types(t, pkg, "apply"), seen.Events)
	declared := sealed.Calls(t, pkg, "ident", "NotFound", "Forbidden", "Conflict")
	sealed.Check(t, "rejections in threadtest.History", declared, seen.Codes)

	for name, command := range commands {
		if got := thread.CommandName(command); got != "thread."+name {
			t.Errorf("%s is called %q: its repeats would not be recognised", name, got)
		}
	}
}
