// Package threadtest generates random commands on a thread for property tests.
package threadtest

import (
	"slices"
	"time"

	"pgregory.net/rapid"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
)

// People are few, so that commands often concern the same member.
var People = []thread.UserID{someone(1), someone(2), someone(3)}

func someone(number byte) thread.UserID {
	return ident.New[ident.UserAccount](time.UnixMilli(1), [10]byte{9: number})
}

// Step is a command and its decision.
type Step struct {
	Command thread.Command
	Events  []thread.Event
	Err     error
	Happens bool // the events are applied before the next step
}

// History draws commands of every type in every state and returns their decisions. For each state, one accepted command
// leads to the next state.
func History(t *rapid.T) []Step {
	person := rapid.SampledFrom(People)
	role := rapid.SampledFrom([]thread.Role{thread.RoleAdmin, thread.RoleMember})
	word := rapid.SampledFrom([]string{"a", "b", "c \U0001F600 \\ ' \" %s?"})
	messages := []thread.MessageID{ident.New[thread.Message](time.UnixMilli(1), [10]byte{})}
	state := thread.Thread{}
	var steps []Step

	for i := range rapid.IntRange(1, 60).Draw(t, "commands") {
		fresh := [10]byte{8: byte(i >> 8), 9: byte(i)}
		at := time.UnixMilli(1000)
		executor, user := person.Draw(t, "executor"), person.Draw(t, "user")
		message := rapid.SampledFrom(messages).Draw(t, "message")
		name, text := writing.RecordedName(word.Draw(t, "name")), thread.RecordedText(word.Draw(t, "text"))
		wanted := []thread.Command{
			thread.Create{Executor: executor, Member: ident.New[thread.Member](at, fresh), Name: name, Code: thread.RecordedCode("THREAD-000001")},
			thread.Rename{Executor: executor, Name: name},
			thread.AddMember{Executor: executor, Member: ident.New[thread.Member](at, fresh), User: user, Role: role.Draw(t, "role")},
			thread.RemoveMember{Executor: executor, User: user},
			thread.ChangeMemberRole{Executor: executor, User: user, Role: role.Draw(t, "role")},
			thread.PostMessage{Executor: executor, Message: ident.New[thread.Message](at, fresh), Text: text},
			thread.EditMessage{Executor: executor, Message: message, Text: text},
			thread.DeleteMessage{Executor: executor, Message: message},
			thread.Withdraw{Executor: executor},
			thread.Delete{Executor: executor},
		}
		last := len(wanted) - 1
		if i < 40 {
			last -= 2 // deletions end a history, so draw fewer of them
		}
		chosen := rapid.IntRange(0, last).Draw(t, "chosen")
		before := state
		for number, command := range wanted {
			step := Step{Command: command, Happens: number == chosen}
			if step.Events, step.Err = thread.Decide(before, command); (step.Err == nil) != (len(step.Events) > 0) {
				t.Fatalf("%T gave events %v and error %v", command, step.Events, step.Err)
			}
			steps = append(steps, step)
			if !step.Happens {
				continue
			}
			for _, event := range step.Events {
				state = state.Apply(event)
				if posted, is := event.(thread.MessagePosted); is {
					messages = append(messages, posted.Message.ID)
				}
			}
		}
	}
	return steps
}

// Sample returns the steps of all [Histories].
func Sample() []Step { return slices.Concat(Histories()...) }

// Histories returns enough histories to contain every possible decision, always the same.
func Histories() (all [][]Step) {
	histories := rapid.Custom(History)
	for seed := range 300 {
		all = append(all, histories.Example(seed))
	}
	return all
}

// Events returns the events that were applied.
func Events(steps []Step) []thread.Event {
	var events []thread.Event
	for _, step := range steps {
		if step.Happens {
			events = append(events, step.Events...)
		}
	}
	return events
}
