package thread

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"example.com/threads/domain/ident"
)

// history draws commands of a handful of people who know each other, and returns what came of them.
func history(t *rapid.T) []Event {
	people := []UserID{ada, bob, eve}
	person := rapid.SampledFrom(people)
	role := rapid.SampledFrom([]Role{RoleAdmin, RoleMember})
	word := rapid.SampledFrom([]string{"a", "b", "c"})
	state, events := Thread{}, []Event{}
	messages := []MessageID{unknown}

	for i := range rapid.IntRange(1, 60).Draw(t, "commands") {
		fresh := [10]byte{8: byte(i >> 8), 9: byte(i)}
		at := time.UnixMilli(1000)
		executor := person.Draw(t, "executor")
		user := person.Draw(t, "user")
		message := rapid.SampledFrom(messages).Draw(t, "message")
		command := rapid.SampledFrom([]Command{
			Create{executor, ident.New[Member](at, fresh), name(word.Draw(t, "name"))},
			Rename{executor, name(word.Draw(t, "name"))},
			AddMember{executor, ident.New[Member](at, fresh), user, role.Draw(t, "role")},
			RemoveMember{executor, user},
			ChangeMemberRole{executor, user, role.Draw(t, "role")},
			PostMessage{executor, ident.New[Message](at, fresh), text(word.Draw(t, "text"))},
			EditMessage{executor, message, text(word.Draw(t, "text"))},
			DeleteMessage{executor, message},
		}).Draw(t, "command")
		if i > 50 {
			command = Delete{executor}
		}

		decided, err := Decide(state, command)
		if (err == nil) != (len(decided) == 1) {
			t.Fatalf("%T gave events %v and error %v", command, decided, err)
		}
		for _, event := range decided {
			state = state.Apply(event)
			events = append(events, event)
			if posted, ok := event.(MessagePosted); ok {
				messages = append(messages, posted.Message.ID)
			}
		}
	}
	return events
}

func TestVersionCountsEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state := Thread{}
		for i, event := range history(t) {
			state = state.Apply(event)
			if state.Version() != uint64(i)+1 {
				t.Fatalf("version %d after event %d", state.Version(), i+1)
			}
		}
	})
}

func TestALiveThreadWithMembersHasAnAdmin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state := Thread{}
		for _, event := range history(t) {
			state = state.Apply(event)
			admins := 0
			members := state.Memento().Members
			for _, member := range members {
				if member.Role == RoleAdmin {
					admins++
				}
			}
			if !state.Deleted() && len(members) > 0 && admins == 0 {
				t.Fatalf("members without an Admin after %#v", event)
			}
		}
	})
}

func TestAStateSurvivesBeingStored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := history(t)
		cut := rapid.IntRange(0, len(events)).Draw(t, "cut")
		restored := Thread{}.Replay(events[:cut]...).Memento().Thread().Replay(events[cut:]...)
		whole := Thread{}.Replay(events...)
		if diff := cmp.Diff(whole.Memento(), restored.Memento(), byValue()); diff != "" {
			t.Fatal("restored state differs (-whole +restored):\n" + diff)
		}
		// What the memento does not show, decisions do.
		for _, user := range []UserID{ada, bob, eve} {
			_, want := Decide(whole, RemoveMember{Executor: user, User: user})
			_, got := Decide(restored, RemoveMember{Executor: user, User: user})
			if !errors.Is(got, want) {
				t.Fatalf("leaving: %v in memory, %v when restored", want, got)
			}
		}
	})
}

func TestApplyLeavesItsInputUntouched(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := history(t)
		states := []Thread{{}}
		mementos := []Memento{Thread{}.Memento()}
		for _, event := range events {
			next := states[len(states)-1].Apply(event)
			states = append(states, next)
			mementos = append(mementos, next.Memento())
		}
		for i, state := range states {
			if diff := cmp.Diff(mementos[i], state.Memento(), byValue()); diff != "" {
				t.Fatalf("state %d was changed by a later event:\n%s", i, diff)
			}
		}
	})
}
