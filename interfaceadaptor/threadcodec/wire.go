package threadcodec

import (
	"errors"
	"maps"
	"slices"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
)

// wireID is an id written as {"value":"<ulid>"}; a plain string and the UUID form can be read too.
type wireID[T any] struct{ id ident.Of[T] }

// MarshalJSON needs no escapes, because a ULID has only letters and digits.
func (w wireID[T]) MarshalJSON() ([]byte, error) {
	return []byte(`{"value":"` + w.id.String() + `"}`), nil
}

func (w *wireID[T]) UnmarshalJSON(data []byte) error {
	text, err := es.IDText(data)
	if err == nil {
		w.id, err = ident.Parse[T](text)
	}
	return err
}

// plainID is an id written as a plain string; {"value":"<ulid>"} and the UUID form can be read too.
type plainID[T any] struct{ id ident.Of[T] }

func (p plainID[T]) MarshalText() ([]byte, error) { return []byte(p.id.String()), nil }

func (p *plainID[T]) UnmarshalJSON(data []byte) error { return (*wireID[T])(p).UnmarshalJSON(data) }

// wireMember is a member with its role.
type wireMember struct {
	ID     plainID[thread.Member]    `json:"id"`
	User   wireID[ident.UserAccount] `json:"user_account_id"`
	Role   wireRole                  `json:"role"`
	Joined uint64                    `json:"seq_nr,omitempty"` // in snapshots only
}

func memberOf(m thread.Member) wireMember {
	return wireMember{
		ID:   plainID[thread.Member]{m.ID},
		User: wireID[ident.UserAccount]{m.User},
		Role: wireRole{m.Role},
	}
}

func (w wireMember) member() (thread.Member, error) {
	if w.ID.id.IsZero() || w.User.id.IsZero() || w.Role.role == (thread.Role{}) {
		return thread.Member{}, errors.New("a member must have id, user_account_id and role")
	}
	return thread.Member{ID: w.ID.id, User: w.User.id, Role: w.Role.role}, nil
}

type wireRole struct{ role thread.Role }

func (w wireRole) MarshalText() ([]byte, error) { return []byte(w.role.String()), nil }

func (w *wireRole) UnmarshalText(text []byte) (err error) {
	w.role, err = thread.ParseRole(string(text))
	return err
}

// wireMembers is a set of members. The index by user account is for other readers; this program builds its own.
type wireMembers struct {
	Index   map[string]string     `json:"members_ids_by_user_account_id"`
	Members map[string]wireMember `json:"members"`
}

func newWireMembers() *wireMembers {
	return &wireMembers{Index: map[string]string{}, Members: map[string]wireMember{}}
}

func (w *wireMembers) add(m wireMember) {
	w.Index[m.User.id.String()] = m.ID.id.String()
	w.Members[m.ID.id.String()] = m
}

func membersOf(members []thread.Member) *wireMembers {
	w := newWireMembers()
	for _, m := range members {
		w.add(memberOf(m))
	}
	return w
}

func participantsOf(members []thread.Participant) *wireMembers {
	w := newWireMembers()
	for _, p := range members {
		m := memberOf(p.Member)
		m.Joined = p.Joined
		w.add(m)
	}
	return w
}

// members returns the members in the order of their ids, which is the order of joining.
func (w *wireMembers) members() ([]thread.Member, error) {
	return inOrder(w, wireMember.member)
}

// participants returns them with the numbers that a snapshot has.
func (w *wireMembers) participants() ([]thread.Participant, error) {
	return inOrder(w, func(m wireMember) (thread.Participant, error) {
		member, err := m.member()
		return thread.Participant{Member: member, Joined: m.Joined}, errors.Join(err, required(m.Joined > 0, "seq_nr"))
	})
}

func inOrder[M any](w *wireMembers, read func(wireMember) (M, error)) ([]M, error) {
	members := make([]M, 0, len(w.Members))
	for _, id := range slices.Sorted(maps.Keys(w.Members)) {
		m, err := read(w.Members[id])
		if err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return members, nil
}

// wireMessage is a message with its text.
type wireMessage struct {
	ID     wireID[thread.Message]    `json:"id"`
	Text   string                    `json:"text"`
	Sender wireID[ident.UserAccount] `json:"sender_id"`
}

func messageOf(m thread.Message) wireMessage {
	return wireMessage{ID: wireID[thread.Message]{m.ID}, Text: m.Text.String(), Sender: wireID[ident.UserAccount]{m.Sender}}
}

func (w wireMessage) message() (thread.Message, error) {
	if w.ID.id.IsZero() || w.Sender.id.IsZero() || w.Text == "" {
		return thread.Message{}, errors.New("a message must have id, sender_id and text")
	}
	return thread.Message{ID: w.ID.id, Sender: w.Sender.id, Text: thread.RecordedText(w.Text)}, nil
}
