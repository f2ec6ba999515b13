package thread

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/writing"
	"example.com/threads/tests/kit"
	"example.com/threads/tests/sealed"
)

// The people of the tests: ada creates the thread, bob joins as Member, eve is a stranger.
var ada, bob, eve = someID[ident.UserAccount](1), someID[ident.UserAccount](2), someID[ident.UserAccount](3)

var (
	adaIn, bobIn, eveIn   = someID[Member](11), someID[Member](12), someID[Member](13)
	hello, other, unknown = someID[Message](21), someID[Message](22), someID[Message](23)
)

func someID[T any](number byte) ident.Of[T] {
	return ident.New[T](time.UnixMilli(int64(number)), [10]byte{9: number})
}

func name(text string) Name { return writing.RecordedName(text) }
func text(text string) Text { return RecordedText(text) }

// The events of the tests.
var (
	created  = Created{Name: name("tea"), Code: RecordedCode("THREAD-000001"), Members: []Member{{ID: adaIn, User: ada, Role: RoleAdmin}}}
	bobJoins = MemberAdded{Member: Member{ID: bobIn, User: bob, Role: RoleMember}}
	bobAdmin = MemberRoleChanged{Member: bobIn, User: bob, Role: RoleAdmin}
	bobGoes  = MemberRemoved{Member: bobIn, User: bob}
	adaGoes  = MemberRemoved{Member: adaIn, User: ada}
	bobSays  = MessagePosted{Message: Message{ID: hello, Sender: bob, Text: text("hello")}}
	adaSays  = MessagePosted{Message: Message{ID: other, Sender: ada, Text: text("hi")}}
)

func TestDecide(t *testing.T) {
	given := func(events ...Event) []Event { return events }
	seen := kit.Seen{
		Commands: []string{"Withdraw"},                                        // TestWithdraw has its rules
		Codes:    []string{ErrThreadNotFound.Code(), ErrThreadDeleted.Code()}, // the next test has these
	}
	for _, c := range []struct {
		rule  string
		given []Event
		when  Command
		then  Event
		fails error
	}{
		// Lifecycle
		{"the creator is the first Admin", nil, Create{Executor: ada, Member: adaIn, Name: name("tea"), Code: RecordedCode("THREAD-000001")}, created, nil},
		{"a thread is created once", given(created), Create{Executor: bob, Member: bobIn, Name: name("tea"), Code: RecordedCode("THREAD-000002")}, nil, ErrThreadExists},
		{"a deleted thread is not created again", given(created, Deleted{}), Create{Executor: bob, Member: bobIn, Name: name("tea"), Code: RecordedCode("THREAD-000002")}, nil, ErrThreadExists},
		{"an Admin renames", given(created), Rename{ada, name("coffee")}, Renamed{Name: name("coffee")}, nil},
		{"a Member does not rename", given(created, bobJoins), Rename{bob, name("coffee")}, nil, ErrNotAdmin},
		{"a stranger does not rename", given(created), Rename{eve, name("coffee")}, nil, ErrNotMember},
		{"the same name is rejected", given(created), Rename{ada, name("tea")}, nil, ErrNameUnchanged},
		{"an earlier name is accepted again", given(created, Renamed{Name: name("coffee")}), Rename{ada, name("tea")}, Renamed{Name: name("tea")}, nil},
		{"an Admin deletes", given(created), Delete{ada}, Deleted{}, nil},
		{"a Member does not delete", given(created, bobJoins), Delete{bob}, nil, ErrNotAdmin},
		{"a stranger does not delete", given(created), Delete{eve}, nil, ErrNotMember},
		{"a former Admin does not delete", given(created, bobJoins, bobAdmin, adaGoes), Delete{ada}, nil, ErrNotMember},

		// Membership
		{"an Admin adds a Member", given(created), AddMember{ada, bobIn, bob, RoleMember}, bobJoins, nil},
		{"an Admin adds an Admin", given(created), AddMember{ada, bobIn, bob, RoleAdmin}, MemberAdded{Member: Member{ID: bobIn, User: bob, Role: RoleAdmin}}, nil},
		{"a Member does not add", given(created, bobJoins), AddMember{bob, eveIn, eve, RoleMember}, nil, ErrNotAdmin},
		{"a stranger does not add", given(created), AddMember{eve, eveIn, eve, RoleMember}, nil, ErrNotMember},
		{"a member is not added twice", given(created, bobJoins), AddMember{ada, eveIn, bob, RoleAdmin}, nil, ErrAlreadyMember},
		{"a former member may come back", given(created, bobJoins, bobGoes), AddMember{ada, bobIn, bob, RoleMember}, bobJoins, nil},
		{"an Admin removes", given(created, bobJoins), RemoveMember{ada, bob}, bobGoes, nil},
		{"an Admin removes another Admin", given(created, bobJoins, bobAdmin), RemoveMember{bob, ada}, adaGoes, nil},
		{"a Member removes nobody else", given(created, bobJoins), RemoveMember{bob, ada}, nil, ErrNotAdmin},
		{"a Member does not learn who is a member", given(created, bobJoins), RemoveMember{bob, eve}, nil, ErrNotAdmin},
		{"a stranger removes nobody", given(created, bobJoins), RemoveMember{eve, bob}, nil, ErrNotMember},
		{"a stranger can't leave", given(created), RemoveMember{eve, eve}, nil, ErrNotMember},
		{"an account that is not a member is not removed", given(created), RemoveMember{ada, eve}, nil, ErrMemberNotFound},
		{"anyone may leave", given(created, bobJoins), RemoveMember{bob, bob}, bobGoes, nil},
		{"an Admin may leave while another stays", given(created, bobJoins, bobAdmin), RemoveMember{ada, ada}, adaGoes, nil},
		{"the last Admin can't leave others behind", given(created, bobJoins), RemoveMember{ada, ada}, nil, ErrLastAdmin},
		{"the last Admin may leave as the last member", given(created, bobJoins, bobGoes), RemoveMember{ada, ada}, adaGoes, nil},
		{"an Admin promotes", given(created, bobJoins), ChangeMemberRole{ada, bob, RoleAdmin}, bobAdmin, nil},
		{"an Admin steps back while another stays", given(created, bobJoins, bobAdmin), ChangeMemberRole{ada, ada, RoleMember}, MemberRoleChanged{Member: adaIn, User: ada, Role: RoleMember}, nil},
		{"the last Admin can't step back", given(created, bobJoins), ChangeMemberRole{ada, ada, RoleMember}, nil, ErrLastAdmin},
		{"the last Admin can't step back alone either", given(created), ChangeMemberRole{ada, ada, RoleMember}, nil, ErrLastAdmin},
		{"a Member promotes nobody", given(created, bobJoins), ChangeMemberRole{bob, bob, RoleAdmin}, nil, ErrNotAdmin},
		{"a stranger promotes nobody", given(created, bobJoins), ChangeMemberRole{eve, bob, RoleAdmin}, nil, ErrNotMember},
		{"an account that is not a member gets no role", given(created), ChangeMemberRole{ada, eve, RoleAdmin}, nil, ErrMemberNotFound},
		{"the same role is rejected", given(created, bobJoins), ChangeMemberRole{ada, bob, RoleMember}, nil, ErrRoleUnchanged},

		// Posting
		{"a member posts", given(created, bobJoins), PostMessage{bob, hello, text("hello")}, bobSays, nil},
		{"a stranger does not post", given(created), PostMessage{eve, hello, text("hello")}, nil, ErrNotMember},
		{"a former member does not post", given(created, bobJoins, bobGoes), PostMessage{bob, hello, text("hello")}, nil, ErrNotMember},
		{"the sender edits", given(created, bobJoins, bobSays), EditMessage{bob, hello, text("hello!")}, MessageEdited{Message: Message{ID: hello, Sender: bob, Text: text("hello!")}}, nil},
		{"not even an Admin edits another's message", given(created, bobJoins, bobSays), EditMessage{ada, hello, text("hello!")}, nil, ErrNotSender},
		{"a stranger does not edit", given(created, bobJoins, bobSays), EditMessage{eve, hello, text("hello!")}, nil, ErrNotMember},
		{"a former member does not edit", given(created, bobJoins, bobSays, bobGoes), EditMessage{bob, hello, text("hello!")}, nil, ErrNotMember},
		{"a sender who came back edits", given(created, bobJoins, bobSays, bobGoes, bobJoins), EditMessage{bob, hello, text("hello!")}, MessageEdited{Message: Message{ID: hello, Sender: bob, Text: text("hello!")}}, nil},
		{"an unknown message is not edited", given(created), EditMessage{ada, unknown, text("hello!")}, nil, ErrMessageNotFound},
		{"a deleted message is not edited", given(created, adaSays, MessageDeleted{Message: other}), EditMessage{ada, other, text("hi!")}, nil, ErrMessageNotFound},
		{"the same text is rejected", given(created, bobJoins, bobSays), EditMessage{bob, hello, text("hello")}, nil, ErrTextUnchanged},
		{"an earlier text is accepted again", given(created, adaSays, MessageEdited{Message: Message{ID: other, Sender: ada, Text: text("hi!")}}), EditMessage{ada, other, text("hi")}, MessageEdited{Message: Message{ID: other, Sender: ada, Text: text("hi")}}, nil},
		{"the sender deletes", given(created, bobJoins, bobSays), DeleteMessage{bob, hello}, MessageDeleted{Message: hello}, nil},
		{"an Admin deletes another's message", given(created, bobJoins, bobSays), DeleteMessage{ada, hello}, MessageDeleted{Message: hello}, nil},
		{"a Member does not delete another's message", given(created, bobJoins, adaSays), DeleteMessage{bob, other}, nil, ErrNotSender},
		{"a stranger does not delete a message", given(created, bobJoins, bobSays), DeleteMessage{eve, hello}, nil, ErrNotMember},
		{"an unknown message is not deleted", given(created), DeleteMessage{ada, unknown}, nil, ErrMessageNotFound},
		{"a message is deleted once", given(created, adaSays, MessageDeleted{Message: other}), DeleteMessage{ada, other}, nil, ErrMessageNotFound},
	} {
		var want []Event
		if c.then != nil {
			want = []Event{c.then}
		}
		kit.Add(&seen, c.when, want, c.fails)
		t.Run(c.rule, func(t *testing.T) {
			events, err := Decide(Thread{}.Replay(c.given...), c.when)
			if !errors.Is(err, c.fails) {
				t.Fatalf("got error %v, want %v", err, c.fails)
			}
			if diff := kit.Diff(want, events); diff != "" {
				t.Error("events (-want +got):\n" + diff)
			}
		})
	}
	const pkg = "example.com/threads/domain/thread"
	sealed.Check(t, "commands with a rule in TestDecide", sealed.Types(t, pkg, "name"), seen.Commands)
	sealed.Check(t, "events that follow in TestDecide", sealed.Types(t, pkg, "apply"), seen.Events)
	sealed.Check(t, "rejections in TestDecide", sealed.Calls(t, pkg, "ident", "NotFound", "Forbidden", "Conflict"), seen.Codes)
}

func TestNothingHappensToAThreadThatIsNotThere(t *testing.T) {
	for _, command := range []Command{
		Rename{ada, name("coffee")}, Delete{ada},
		AddMember{ada, bobIn, bob, RoleMember}, RemoveMember{ada, bob}, Withdraw{ada}, ChangeMemberRole{ada, bob, RoleAdmin},
		PostMessage{ada, unknown, text("hi")}, EditMessage{ada, other, text("ho")}, DeleteMessage{ada, other},
	} {
		t.Run(fmt.Sprintf("%T", command), func(t *testing.T) {
			if _, err := Decide(Thread{}, command); !errors.Is(err, ErrThreadNotFound) {
				t.Errorf("never created: got %v", err)
			}
			deleted := Thread{}.Replay(created, bobJoins, adaSays, Deleted{})
			if _, err := Decide(deleted, command); !errors.Is(err, ErrThreadDeleted) {
				t.Errorf("deleted: got %v", err)
			}
		})
	}
}
