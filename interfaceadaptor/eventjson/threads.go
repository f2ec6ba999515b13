package eventjson

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/usecase/chat"
)

// Threads is the aggregate type of threads. "Created" is the first version of "ThreadCreated".
func Threads() es.Aggregate[thread.Thread, thread.Command, thread.Event] {
	return es.Aggregate[thread.Thread, thread.Command, thread.Event]{
		Decide: thread.Decide, Apply: thread.Thread.Apply, Usable: thread.Thread.Usable, Answer: chat.AboutThread,
		Events: es.NewCodec(thread.AggregateType, ident.Canonical,
			es.Event[thread.Event]("ThreadCreated", wireCreatedOf, wireCreated.event).CausedBy(creator),
			es.Former[thread.Event]("Created", wireCreated.event).CausedBy(creator),
			es.Event[thread.Event]("ThreadRenamed",
				func(e thread.Renamed) wireName { return wireName{e.Name.String()} },
				es.Complete(func(w wireName) thread.Renamed { return thread.Renamed{Name: writing.RecordedName(w.Name)} })),
			es.Plain[thread.Event, thread.Deleted]("ThreadDeleted"),
			es.Event[thread.Event]("ThreadMemberAdded",
				func(e thread.MemberAdded) wireAdded { return wireAdded{memberOf(thread.Participant{Member: e.Member})} },
				es.Complete(func(w wireAdded) thread.MemberAdded { return thread.MemberAdded{Member: w.Member.participant().Member} })),
			es.Event[thread.Event]("ThreadMemberRemoved",
				func(e thread.MemberRemoved) wireRemoved {
					return wireRemoved{ref[thread.Member]{e.Member}, userRef{e.User}}
				},
				es.Complete(func(w wireRemoved) thread.MemberRemoved {
					return thread.MemberRemoved{Member: w.Member.Of, User: w.User.Of}
				})),
			es.Event[thread.Event]("ThreadMemberRoleChanged",
				func(e thread.MemberRoleChanged) wireRoleChanged {
					return wireRoleChanged{ref[thread.Member]{e.Member}, userRef{e.User}, e.Role}
				},
				es.Complete(func(w wireRoleChanged) thread.MemberRoleChanged {
					return thread.MemberRoleChanged{Member: w.Member.Of, User: w.User.Of, Role: w.Role}
				})),
			es.Event[thread.Event]("ThreadMessagePosted",
				func(e thread.MessagePosted) wireSaid { return saidOf(e.Message) },
				es.Complete(func(w wireSaid) thread.MessagePosted { return thread.MessagePosted{Message: w.message()} })),
			es.Event[thread.Event]("ThreadMessageEdited",
				func(e thread.MessageEdited) wireSaid { return saidOf(e.Message) },
				es.Complete(func(w wireSaid) thread.MessageEdited { return thread.MessageEdited{Message: w.message()} })),
			es.Event[thread.Event]("ThreadMessageDeleted",
				func(e thread.MessageDeleted) wireMessageID { return wireMessageID{messageRef{e.Message}} },
				es.Complete(func(w wireMessageID) thread.MessageDeleted { return thread.MessageDeleted{Message: w.Message.Of} })),
		),
		Snapshots: es.JSONSnapshots(sizeOfThread, wireThreadOf, wireThread.thread),
	}
}

type (
	userRef    = ref[ident.UserAccount]
	messageRef = ref[thread.Message]
)

type wireName struct {
	Name string `json:"name"`
}

type wireCreated struct {
	Name    string       `json:"name"`
	Code    string       `json:"code,omitempty"` // empty: the thread was created before codes existed
	Members *wireMembers `json:"members"`
}

func wireCreatedOf(e thread.Created) wireCreated {
	members := make([]thread.Participant, len(e.Members))
	for i, member := range e.Members {
		members[i].Member = member
	}
	return wireCreated{e.Name.String(), e.Code.String(), membersOf(members)}
}

func (w wireCreated) event() (e thread.Created, err error) {
	if w.Name == "" || w.Members == nil || len(w.Members.Members) == 0 {
		return e, errors.New("name or members are missing")
	}
	e = thread.Created{Name: writing.RecordedName(w.Name), Code: thread.RecordedCode(w.Code)}
	members, err := w.Members.participants()
	for _, member := range members {
		e.Members = append(e.Members, member.Member)
	}
	return e, err
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

type wireRemoved struct {
	Member ref[thread.Member] `json:"member_id"`
	User   userRef            `json:"user_account_id"`
}

type wireRoleChanged struct {
	Member ref[thread.Member] `json:"member_id"`
	User   userRef            `json:"user_account_id"`
	Role   thread.Role        `json:"role"`
}

type wireSaid struct {
	Message struct {
		ID     messageRef `json:"id"`
		Text   string     `json:"text"`
		Sender userRef    `json:"sender_id"`
	} `json:"message"`
}

func saidOf(m thread.Message) (w wireSaid) {
	w.Message.ID, w.Message.Text, w.Message.Sender = messageRef{m.ID}, m.Text.String(), userRef{m.Sender}
	return w
}

func (w wireSaid) message() thread.Message {
	return thread.Message{ID: w.Message.ID.Of, Sender: w.Message.Sender.Of, Text: thread.RecordedText(w.Message.Text)}
}

type wireMessageID struct {
	Message messageRef `json:"message_id"`
}

type wireMember struct {
	ID     thread.MemberID `json:"id"`
	User   userRef         `json:"user_account_id"`
	Role   thread.Role     `json:"role"`
	Joined uint64          `json:"seq_nr,omitempty"` // in snapshots only
}

func memberOf(p thread.Participant) wireMember {
	return wireMember{ID: p.ID, User: userRef{p.User}, Role: p.Role, Joined: p.Joined}
}

func (w wireMember) participant() thread.Participant {
	return thread.Participant{Member: thread.Member{ID: w.ID, User: w.User.Of, Role: w.Role}, Joined: w.Joined}
}

// wireMembers is a set of members. The index by user account is for other readers; this program builds its own.
type wireMembers struct {
	Index   map[string]string     `json:"members_ids_by_user_account_id"`
	Members map[string]wireMember `json:"members"`
}

func membersOf(members []thread.Participant) *wireMembers {
	w := &wireMembers{Index: map[string]string{}, Members: map[string]wireMember{}}
	for _, p := range members {
		w.Index[p.User.String()] = p.ID.String()
		w.Members[p.ID.String()] = memberOf(p)
	}
	return w
}

var completeMember = es.Complete(wireMember.participant)

// participants returns the members in the order of their ids, which is the order of joining.
func (w *wireMembers) participants() (members []thread.Participant, err error) {
	for _, id := range slices.Sorted(maps.Keys(w.Members)) {
		member, err := completeMember(w.Members[id])
		if err != nil {
			return nil, fmt.Errorf("a member's %w", err)
		}
		members = append(members, member)
	}
	return members, nil
}

type wireThread struct {
	Format   int                `json:"format"`
	ID       ref[thread.Thread] `json:"id"`
	Name     string             `json:"name"`
	Deleted  bool               `json:"deleted,omitempty"`
	Members  *wireMembers       `json:"members"`
	Messages []wirePosting      `json:"messages"`
	Version  uint64             `json:"version"`
	Counter  uint64             `json:"seq_nr_counter,omitempty"` // in the first document's form: its last event
}

type wirePosting struct {
	ID     thread.MessageID  `json:"id"`
	Sender thread.UserID     `json:"sender_id"`
	Text   thread.TextDigest `json:"text_digest"`
	Posted uint64            `json:"seq_nr"`
	Edited uint64            `json:"edited_seq_nr,omitempty"`
}

const threadFormat = 5 // current version of the JSON of a state

func sizeOfThread(state thread.Thread) int {
	members, messages := state.Size()
	return 500 + 120*(members+messages)
}

func wireThreadOf(id string, version uint64, state thread.Thread) (wireThread, error) {
	parsed, err := ident.Parse[thread.Thread](id)
	if err != nil {
		return wireThread{}, fmt.Errorf("the thread's id %q: %v", id, err) //nolint:errorlint // not an error of the caller
	}
	m := state.Memento()
	messages := make([]wirePosting, len(m.Messages))
	for i, posting := range m.Messages {
		messages[i] = wirePosting(posting)
	}
	return wireThread{
		Format: threadFormat, ID: ref[thread.Thread]{parsed}, Name: m.Name.String(), Deleted: m.Deleted, Members: membersOf(m.Members),
		Messages: messages, Version: version,
	}, nil
}

func (w wireThread) thread() (id string, version uint64, state thread.Thread, err error) {
	// The state after the first event, in the form of the first document, has no format. Later ones are outdated.
	if w.Format == 0 && max(w.Version, w.Counter) == 1 && w.Members != nil && len(w.Messages) == 0 {
		w.Format = threadFormat
		for id, member := range w.Members.Members {
			member.Joined = 1
			w.Members.Members[id] = member
		}
	}
	switch {
	case w.Format < threadFormat:
		return "", 0, state, fmt.Errorf("%w: its format is %d, not %d", es.ErrOutdated, w.Format, threadFormat)
	case w.Format > threadFormat:
		return "", 0, state, fmt.Errorf("its format %d is newer than %d", w.Format, threadFormat)
	case w.ID.IsZero() || w.Name == "" || w.Members == nil || w.Version == 0:
		return "", 0, state, errors.New("id, name, members or version is missing")
	}
	m := thread.Memento{Deleted: w.Deleted, Events: w.Version, Name: writing.RecordedName(w.Name)}
	m.Messages = make([]thread.Posting, len(w.Messages))
	if m.Members, err = w.Members.participants(); err != nil {
		return "", 0, state, err
	}
	for _, member := range m.Members {
		if member.Joined == 0 {
			return "", 0, state, errors.New("a member's seq_nr is missing")
		}
	}
	for i, posting := range w.Messages {
		if posting.ID.IsZero() || posting.Sender.IsZero() || posting.Text == (thread.TextDigest{}) || posting.Posted == 0 {
			return "", 0, state, errors.New("a message must have id, sender_id, text_digest and seq_nr")
		}
		m.Messages[i] = thread.Posting(posting)
	}
	return w.ID.String(), w.Version, m.Thread(), nil
}

// ref is an id written as {"value":"<ulid>"}; a plain string and the UUID form can be read too.
type ref[T any] struct{ ident.Of[T] }

// MarshalJSON needs no escapes, because a ULID has only letters and digits.
func (r ref[T]) MarshalJSON() ([]byte, error) { return []byte(`{"value":"` + r.String() + `"}`), nil }

func (r *ref[T]) UnmarshalJSON(data []byte) error {
	text, err := es.IDText(data)
	if err == nil {
		r.Of, err = ident.Parse[T](text)
	}
	return err
}

// ThreadRepository loads and saves threads over an [es.EventPersistenceGateway].
type ThreadRepository = es.Repository[thread.Thread, thread.Event]
