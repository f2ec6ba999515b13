package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
)

// failingCommand is an element of the output of `dead-letters list --json`.
type failingCommand struct {
	Process, AID, Command, Reason string
	EventID                       string    `json:"event_id"`
	FailingSince                  time.Time `json:"failing_since"`
}

func (s *system) failingCommands(t *testing.T) (byThread map[string]failingCommand, err error) {
	t.Helper()
	listed, problem, _ := s.tryOperate(t, "dead-letters", "list", "--json")
	var told struct{ Commands []failingCommand }
	if err := json.Unmarshal([]byte(listed), &told); err != nil {
		return nil, fmt.Errorf("%w in %s %s", err, listed, problem)
	}
	byThread = map[string]failingCommand{}
	for _, command := range told.Commands {
		byThread[command.AID] = command
	}
	return byThread, nil
}

// A failing command of a process must be reported. It succeeds after a retry once its cause is repaired, or is dropped
// if an operator skips it.
func TestAnOperatorLetsAProcessGoOn(t *testing.T) {
	eachOwnSystem(t, func(t *testing.T, s *system) {
		ada, bob, spoil := s.person("acme"), s.person("acme"), spoilerOf(t, s.store)
		var threads, aids []string
		for range 2 {
			thread := ada.command(t, "/threads/create", fields{"name": "tea"}).text("thread_id")
			ada.command(t, "/threads/add_member", fields{"thread_id": thread, "user_account_id": bob.id, "role": "Member"})
			ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": "hello"})
			threads, aids = append(threads, thread), append(aids, "thread-"+thread)
			spoil.setHead(t, "thread-"+thread, 2) // event 3 contradicts the head
		}
		bob.command(t, "/accounts/register", fields{"name": "Bob"})
		bob.command(t, "/accounts/close", nil)

		var commands map[string]failingCommand
		testenv.Eventually(t, leavesWithin, func() (err error) {
			if commands, err = s.failingCommands(t); err == nil && len(commands) < 2 {
				err = fmt.Errorf("failing are %+v", commands)
			}
			return err
		})
		flags := map[string][]string{}
		for _, aid := range aids {
			c := commands[aid]
			if c.Process != "leave-on-close" || c.Command != "thread.Withdraw" || !strings.Contains(c.Reason, "journal") || time.Since(c.FailingSince).Abs() > time.Hour {
				t.Errorf("%s: %+v", aid, c)
			}
			flags[aid] = []string{aid, "--tenant", "acme", "--projection", c.Process, "--event", c.EventID}
		}
		call := func(command string, more ...string) []string {
			return append([]string{"dead-letters", command}, more...)
		}
		if listed := s.operate(t, isWrong, "dead-letters", "list"); !strings.Contains(listed, "`dead-letters show "+strings.Join(flags[aids[0]], " ")+"`") {
			t.Errorf("what to do next is missing in:\n%s", listed)
		}
		if shown := s.operate(t, isWrong, call("show", flags[aids[0]]...)...); !strings.Contains(shown, bob.id) {
			t.Errorf("the member that leaves is not shown:\n%s", shown)
		}
		const metric = `process_commands_failing{process="leave-on-close"}`
		if err := s.metric(t, metric, "2"); err != nil {
			t.Error(err)
		}
		if health := get(t, s.updaterURL+"/health/ready"); !strings.Contains(health, "dead-letters list") {
			t.Errorf("health does not report failing commands: %s", health)
		}

		s.operate(t, isWrong, call("retry", flags[aids[0]]...)...) // the cause is not repaired
		s.operate(t, 2, call("skip", flags[aids[1]]...)...)
		s.operate(t, allIsWell, append(call("skip", flags[aids[1]]...), "--reason", "Bob may stay", "--by", "grace")...)
		for _, aid := range aids {
			s.operate(t, allIsWell, "journal", "repair", aid, "--tenant", "acme")
		}
		s.operate(t, allIsWell, "dead-letters", "retry", "--projection", "leave-on-close")
		ada.sees(t, threads[0], ada.id+" ADMIN")
		ada.sees(t, threads[1], ada.id+" ADMIN", bob.id+" MEMBER Bob")
		s.operate(t, allIsWell, "dead-letters", "list")
		if skipped := s.operate(t, allIsWell, "dead-letters", "list", "--skipped"); !strings.Contains(skipped, "thread.Withdraw") || !strings.Contains(skipped, "by: grace") {
			t.Errorf("the operator and the reason of the skip are not stored:\n%s", skipped)
		}
		if err := s.metric(t, metric, "0"); err != nil {
			t.Error(err)
		}
	})
}
