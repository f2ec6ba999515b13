package chatrows_test

import (
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/tests/kit"
	"example.com/threads/usecase/chat"
)

// story is a thread whose events come from the domain's own decisions.
type story struct {
	key    es.AggregateID
	state  thread.Thread
	admin  thread.UserID
	users  []thread.UserID
	posted []thread.Message
	at     time.Time
	events []es.Recorded[thread.Event]
}

func begin(t *testing.T, code string) *story {
	t.Helper()
	tenant, err := es.ParseTenant(code)
	if err != nil {
		t.Fatal(err)
	}
	s := &story{key: chat.ThreadKey(tenant, kit.NewID[thread.Thread]()), admin: kit.NewID[ident.UserAccount](), at: time.UnixMicro(1700000000123456).UTC()}
	s.try(thread.Create{Executor: s.admin, Member: kit.NewID[thread.Member](), Name: writing.RecordedName("a thread \U0001F600"), Code: thread.RecordedCode("THREAD-000001")})
	return s
}

// try sends a command and reports whether the domain accepted it.
func (s *story) try(command thread.Command) bool {
	events, err := thread.Decide(s.state, command)
	for _, event := range events {
		s.state = s.state.Apply(event)
		s.at = s.at.Add(1234567 * time.Microsecond)
		s.events = append(s.events, es.Recorded[thread.Event]{
			Envelope: es.Envelope{
				EventID: kit.NewID[thread.Event]().String(), AggregateType: s.key.Type, AggregateID: s.key.ID, SeqNr: uint64(len(s.events)) + 1,
				OccurredAt: s.at, Caller: es.Caller{Tenant: s.key.Tenant, Executor: s.admin.String()},
			},
			Event: event,
		})
	}
	return err == nil
}

// anything sends a random command.
func (s *story) anything(random *mathrand.Rand) {
	user := s.admin
	if len(s.users) > 0 && random.IntN(2) == 0 {
		user = s.users[random.IntN(len(s.users))]
	}
	message := thread.Message{}
	if len(s.posted) > 0 {
		message = s.posted[random.IntN(len(s.posted))]
	}
	role := []thread.Role{thread.RoleAdmin, thread.RoleMember}[random.IntN(2)]
	text := thread.RecordedText(fmt.Sprintf("text %d \U0001F600 \\ ' \" \n%%s?", random.IntN(1000)))
	switch choice := random.IntN(40); {
	case choice < 3:
		s.try(thread.Rename{Executor: s.admin, Name: writing.RecordedName(fmt.Sprint("name ", random.IntN(1000)))})
	case choice < 8:
		added := kit.NewID[ident.UserAccount]()
		if s.try(thread.AddMember{Executor: s.admin, Member: kit.NewID[thread.Member](), User: added, Role: role}) {
			s.users = append(s.users, added)
		}
	case choice < 11: // rejoins a thread that it has left
		s.try(thread.AddMember{Executor: s.admin, Member: kit.NewID[thread.Member](), User: user, Role: role})
	case choice < 14 && user != s.admin:
		s.try(thread.RemoveMember{Executor: s.admin, User: user})
	case choice < 17 && user != s.admin:
		s.try(thread.ChangeMemberRole{Executor: s.admin, User: user, Role: role})
	case choice < 22:
		s.try(thread.EditMessage{Executor: message.Sender, Message: message.ID, Text: text})
	case choice < 25:
		s.try(thread.DeleteMessage{Executor: s.admin, Message: message.ID})
	default:
		posted := thread.Message{ID: kit.NewID[thread.Message](), Sender: user}
		if s.try(thread.PostMessage{Executor: user, Message: posted.ID, Text: text}) {
			s.posted = slices.Concat(s.posted, []thread.Message{posted})
		}
	}
}
