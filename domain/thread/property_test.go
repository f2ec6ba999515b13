package thread_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"example.com/threads/domain/thread"
	"example.com/threads/domain/thread/threadtest"
	"example.com/threads/tests/kit"
)

func TestALiveThreadWithMembersHasAnAdmin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state := thread.Thread{}
		for _, event := range threadtest.Events(threadtest.History(t)) {
			state = state.Apply(event)
			admins := 0
			members := state.Memento().Members
			for _, member := range members {
				if member.Role == thread.RoleAdmin {
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
		events := threadtest.Events(threadtest.History(t))
		if len(events) == 0 {
			return
		}
		cut := rapid.IntRange(1, len(events)).Draw(t, "cut")
		restored := thread.Thread{}.Replay(events[:cut]...).Memento().Thread().Replay(events[cut:]...)
		whole := thread.Thread{}.Replay(events...)
		if diff := kit.Diff(whole.Memento(), restored.Memento()); diff != "" {
			t.Fatal("restored state differs (-whole +restored):\n" + diff)
		}
		// The memento does not show everything, but decisions do.
		for _, user := range threadtest.People {
			_, want := thread.Decide(whole, thread.RemoveMember{Executor: user, User: user})
			_, got := thread.Decide(restored, thread.RemoveMember{Executor: user, User: user})
			if !errors.Is(got, want) {
				t.Fatalf("leaving: %v in memory, %v when restored", want, got)
			}
		}
	})
}

func TestApplyLeavesItsInputUntouched(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		states := []thread.Thread{{}}
		mementos := []thread.Memento{thread.Thread{}.Memento()}
		for _, event := range threadtest.Events(threadtest.History(t)) {
			next := states[len(states)-1].Apply(event)
			states = append(states, next)
			mementos = append(mementos, next.Memento())
		}
		for i, state := range states {
			if diff := kit.Diff(mementos[i], state.Memento()); diff != "" {
				t.Fatalf("state %d was changed by a later event:\n%s", i, diff)
			}
		}
	})
}
