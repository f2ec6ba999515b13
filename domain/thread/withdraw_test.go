package thread_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/thread/threadtest"
	"example.com/threads/domain/writing"
	"example.com/threads/tests/kit"
)

func TestWithdraw(t *testing.T) {
	someone := func(number byte) ident.UserID {
		return ident.New[ident.UserAccount](time.UnixMilli(int64(number)), [10]byte{9: number})
	}
	// The ids of members are in the order of joining; those of user accounts are not.
	joined := func(number byte, user ident.UserID, role thread.Role) thread.Member {
		return thread.Member{ID: ident.New[thread.Member](time.UnixMilli(int64(number)), [10]byte{}), User: user, Role: role}
	}
	ada := joined(1, someone(2), thread.RoleAdmin)
	bob := joined(2, someone(9), thread.RoleMember)
	cleo := joined(3, someone(1), thread.RoleMember)
	eve := someone(5)
	created := thread.Created{Name: writing.RecordedName("tea"), Members: []thread.Member{ada}}
	bobJoins, cleoJoins := thread.MemberAdded{Member: bob}, thread.MemberAdded{Member: cleo}
	becomes := func(member thread.Member, role thread.Role) thread.Event {
		return thread.MemberRoleChanged{Member: member.ID, User: member.User, Role: role}
	}
	goes := func(member thread.Member) thread.Event {
		return thread.MemberRemoved{Member: member.ID, User: member.User}
	}
	withdraw := func(member thread.Member) thread.Withdraw { return thread.Withdraw{Executor: member.User} }

	threads := kit.Decider[thread.Thread, thread.Command, thread.Event]{Decide: thread.Decide, Apply: thread.Thread.Apply}
	rule := func(name string) kit.Rule[thread.Thread, thread.Command, thread.Event] { return threads.Rule(t, name) }

	rule("a Member withdraws").Given(created, bobJoins).When(withdraw(bob)).Then(goes(bob))
	rule("an Admin withdraws where another stays").Given(created, bobJoins, becomes(bob, thread.RoleAdmin)).When(withdraw(ada)).Then(goes(ada))
	rule("when the last Admin withdraws, the first member becomes Admin").Given(created, bobJoins, cleoJoins).
		When(withdraw(ada)).Then(becomes(bob, thread.RoleAdmin), goes(ada))
	rule("a member who came back counts as joined late").Given(created, bobJoins, cleoJoins, goes(bob), thread.MemberAdded{Member: joined(4, bob.User, thread.RoleMember)}).
		When(withdraw(ada)).Then(becomes(cleo, thread.RoleAdmin), goes(ada))
	rule("when a last Admin who joined later withdraws, the first member becomes Admin").
		Given(created, bobJoins, cleoJoins, becomes(cleo, thread.RoleAdmin), becomes(ada, thread.RoleMember)).
		When(withdraw(cleo)).Then(becomes(ada, thread.RoleAdmin), goes(cleo))
	rule("the last member withdraws").Given(created).When(withdraw(ada)).Then(thread.Deleted{})
	rule("the last member withdraws after others have left").Given(created, bobJoins, goes(bob)).When(withdraw(ada)).Then(thread.Deleted{})
	rule("a stranger does not withdraw").Given(created).When(thread.Withdraw{Executor: eve}).Rejected(thread.ErrNotMember)
	rule("a member withdraws once").Given(created, bobJoins, goes(bob)).When(withdraw(bob)).Rejected(thread.ErrNotMember)
}

// After a withdrawal by any member at any time, the member is gone, and if there are members left, one is an Admin. A
// restored state must decide the same.
func TestWithdrawingLeavesAnAdminOrNobody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state := thread.Thread{}.Replay(threadtest.Events(threadtest.History(t))...)
		for _, user := range threadtest.People {
			events, err := thread.Decide(state, thread.Withdraw{Executor: user})
			if err != nil {
				continue
			}
			again, err := thread.Decide(state.Memento().Thread(), thread.Withdraw{Executor: user})
			if diff := kit.Diff(events, again); err != nil || diff != "" {
				t.Fatalf("a restored state decides differently: %v\n%s", err, diff)
			}
			after := state.Replay(events...)
			admins := 0
			for _, member := range after.Memento().Members {
				if member.User == user {
					t.Fatalf("%s is still there", user)
				}
				if member.Role == thread.RoleAdmin {
					admins++
				}
			}
			if !after.Deleted() && admins == 0 {
				t.Fatal("members without an Admin")
			}
		}
	})
}
