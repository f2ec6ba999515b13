package threadcodec

import (
	"errors"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
)

// Events returns the codec of threads' events. "Created" is the first version of "ThreadCreated".
func Events() *es.Codec[thread.Event] {
	return es.NewCodec(thread.AggregateType, ident.Canonical,
		es.Event[thread.Event]("ThreadCreated", wireCreatedOf, wireCreated.event).CausedBy(creator),
		es.Former[thread.Event]("Created", wireCreated.event).CausedBy(creator),
		es.Event[thread.Event]("ThreadRenamed",
			func(e thread.Renamed) wireName { return wireName{e.Name.String()} },
			func(w wireName) (thread.Renamed, error) {
				return thread.Renamed{Name: writing.RecordedName(w.Name)}, required(w.Name != "", "name")
			}),
		es.Event[thread.Event]("ThreadDeleted",
			func(thread.Deleted) struct{} { return struct{}{} },
			func(struct{}) (thread.Deleted, error) { return thread.Deleted{}, nil }),
		es.Event[thread.Event]("ThreadMemberAdded", wireAddedOf, wireAdded.event),
		es.Event[thread.Event]("ThreadMemberRemoved",
			func(e thread.MemberRemoved) wireRef { return refOf(e.Member, e.User) },
			func(w wireRef) (thread.MemberRemoved, error) {
				return thread.MemberRemoved{Member: w.Member.id, User: w.User.id}, w.check()
			}),
		es.Event[thread.Event]("ThreadMemberRoleChanged", wireRoleChangedOf, wireRoleChanged.event),
		es.Event[thread.Event]("ThreadMessagePosted",
			func(e thread.MessagePosted) wireSaid { return saidOf(e.Message) },
			func(w wireSaid) (e thread.MessagePosted, err error) { e.Message, err = w.message(); return e, err }),
		es.Event[thread.Event]("ThreadMessageEdited",
			func(e thread.MessageEdited) wireSaid { return saidOf(e.Message) },
			func(w wireSaid) (e thread.MessageEdited, err error) { e.Message, err = w.message(); return e, err }),
		es.Event[thread.Event]("ThreadMessageDeleted", wireUnsaidOf, wireUnsaid.event),
	)
}

// required returns an error if a required field is missing.
func required(found bool, field string) error {
	if !found {
		return errors.New(field + " is missing")
	}
	return nil
}

type wireName struct {
	Name string `json:"name"`
}

type wireCreated struct {
	wireName
	Code    string       `json:"code,omitempty"` // empty: the thread was created before codes existed
	Members *wireMembers `json:"members"`
}

func wireCreatedOf(e thread.Created) wireCreated {
	return wireCreated{wireName{e.Name.String()}, e.Code.String(), membersOf(e.Members)}
}

func (w wireCreated) event() (thread.Created, error) {
	err := errors.Join(required(w.Name != "", "name"), required(w.Members != nil && len(w.Members.Members) > 0, "members"))
	if err != nil {
		return thread.Created{}, err
	}
	members, err := w.Members.members()
	return thread.Created{Name: writing.RecordedName(w.Name), Code: thread.RecordedCode(w.Code), Members: members}, err
}

// creator returns the executor of a creation that was written without one: the thread's Admin.
func creator(event thread.Event) string {
	if created, is := event.(thread.Created); is {
		for _, member := range created.Members {
			if member.Role == thread.RoleAdmin {
				return member.User.String()
			}
		}
	}
	return ""
}

type wireAdded struct {
	Member wireMember `json:"member"`
}

func wireAddedOf(e thread.MemberAdded) wireAdded { return wireAdded{memberOf(e.Member)} }

func (w wireAdded) event() (thread.MemberAdded, error) {
	member, err := w.Member.member()
	return thread.MemberAdded{Member: member}, err
}

// wireRef refers to a member.
type wireRef struct {
	Member wireID[thread.Member]     `json:"member_id"`
	User   wireID[ident.UserAccount] `json:"user_account_id"`
}

func refOf(member thread.MemberID, user thread.UserID) wireRef {
	return wireRef{wireID[thread.Member]{member}, wireID[ident.UserAccount]{user}}
}

func (w wireRef) check() error {
	return errors.Join(required(!w.Member.id.IsZero(), "member_id"), required(!w.User.id.IsZero(), "user_account_id"))
}

type wireRoleChanged struct {
	wireRef
	Role wireRole `json:"role"`
}

func wireRoleChangedOf(e thread.MemberRoleChanged) wireRoleChanged {
	return wireRoleChanged{refOf(e.Member, e.User), wireRole{e.Role}}
}

func (w wireRoleChanged) event() (thread.MemberRoleChanged, error) {
	err := errors.Join(w.check(), required(w.Role.role != thread.Role{}, "role"))
	return thread.MemberRoleChanged{Member: w.Member.id, User: w.User.id, Role: w.Role.role}, err
}

type wireSaid struct {
	Message wireMessage `json:"message"`
}

func saidOf(m thread.Message) wireSaid { return wireSaid{messageOf(m)} }

func (w wireSaid) message() (thread.Message, error) { return w.Message.message() }

type wireUnsaid struct {
	Message wireID[thread.Message] `json:"message_id"`
}

func wireUnsaidOf(e thread.MessageDeleted) wireUnsaid {
	return wireUnsaid{wireID[thread.Message]{e.Message}}
}

func (w wireUnsaid) event() (thread.MessageDeleted, error) {
	return thread.MessageDeleted{Message: w.Message.id}, required(!w.Message.id.IsZero(), "message_id")
}
