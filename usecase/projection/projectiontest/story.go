package projectiontest

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"

	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/projection"
)

// tb is what stories need of a test; rapid's is one, too.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

// story is a thread whose events are made by the domain's own decisions and go into a journal.
type story struct {
	t       tb
	journal *Journal
	key     usecase.Key
	state   thread.Thread
	version uint64 // number of events so far
	admin   thread.UserID
	users   []thread.UserID
	posted  []posting
	at      time.Time
}

type posting struct {
	id     thread.MessageID
	sender thread.UserID
}

// begin begins a thread of a tenant.
func begin(t tb, journal *Journal, tenant string) *story {
	t.Helper()
	code, err := usecase.ParseTenant(tenant)
	if err != nil {
		t.Fatalf("tenant %q: %v", tenant, err)
	}
	s := &story{
		t: t, journal: journal, key: chat.ThreadKey(code, newID[thread.Thread]()),
		admin: newID[ident.UserAccount](), at: time.UnixMicro(1700000000123456).UTC(),
	}
	s.must(thread.Create{Executor: s.admin, Member: newID[thread.Member](), Name: s.name("a thread 😀")})
	return s
}

func newID[T any]() ident.Of[T] {
	var entropy [10]byte
	_, _ = rand.Read(entropy[:]) // never fails
	return ident.New[T](time.Now(), entropy)
}

func (s *story) name(text string) thread.Name {
	s.t.Helper()
	name, err := writing.ParseName(text)
	if err != nil {
		s.t.Fatalf("name %q: %v", text, err)
	}
	return name
}

func (s *story) text(text string) thread.Text {
	s.t.Helper()
	parsed, err := thread.ParseText(text)
	if err != nil {
		s.t.Fatalf("text %q: %v", text, err)
	}
	return parsed
}

// try lets a command happen where the rules allow it.
func (s *story) try(command thread.Command) error {
	events, err := thread.Decide(s.state, command)
	for _, event := range events {
		s.state = s.state.Apply(event)
		s.version++
		s.at = s.at.Add(1234567 * time.Microsecond)
		s.journal.Append(usecase.Recorded[thread.Event]{
			Envelope: usecase.Envelope{
				EventID: newID[thread.Event]().String(), AggregateType: s.key.Type, AggregateID: s.key.ID, SeqNr: s.version, OccurredAt: s.at,
				Caller: usecase.Caller{Tenant: s.key.Tenant, Executor: s.admin.String()},
			},
			Event: event,
		})
	}
	return err
}

func (s *story) must(command thread.Command) {
	s.t.Helper()
	if err := s.try(command); err != nil {
		s.t.Fatalf("%T: %v", command, err)
	}
}

// post posts a message by the Admin.
func (s *story) post(text string) {
	s.t.Helper()
	s.must(thread.PostMessage{Executor: s.admin, Message: newID[thread.Message](), Text: s.text(text)})
}

// anything lets something happen, chosen by random.
func (s *story) anything(random *mathrand.Rand) {
	user := s.admin
	if len(s.users) > 0 && random.IntN(2) == 0 {
		user = s.users[random.IntN(len(s.users))]
	}
	var message posting
	if len(s.posted) > 0 {
		message = s.posted[random.IntN(len(s.posted))]
	}
	role := []thread.Role{thread.RoleAdmin, thread.RoleMember}[random.IntN(2)]
	text := s.text(fmt.Sprintf("text %d 😀 \\ ' \" \n%%s?", random.IntN(1000)))

	// Rejections are the rules' business: a story goes on with what they allow.
	switch choice := random.IntN(40); {
	case choice == 0:
		_ = s.try(thread.Delete{Executor: s.admin})
	case choice < 3:
		_ = s.try(thread.Rename{Executor: s.admin, Name: s.name(fmt.Sprint("name ", random.IntN(1000)))})
	case choice < 8:
		added := newID[ident.UserAccount]()
		if s.try(thread.AddMember{Executor: s.admin, Member: newID[thread.Member](), User: added, Role: role}) == nil {
			s.users = append(s.users, added)
		}
	case choice < 11:
		// Joins again, where it has left.
		_ = s.try(thread.AddMember{Executor: s.admin, Member: newID[thread.Member](), User: user, Role: role})
	case choice < 14 && user != s.admin:
		_ = s.try(thread.RemoveMember{Executor: s.admin, User: user})
	case choice < 17 && user != s.admin:
		_ = s.try(thread.ChangeMemberRole{Executor: s.admin, User: user, Role: role})
	case choice < 22:
		_ = s.try(thread.EditMessage{Executor: message.sender, Message: message.id, Text: text})
	case choice < 25:
		_ = s.try(thread.DeleteMessage{Executor: s.admin, Message: message.id})
	default:
		id := newID[thread.Message]()
		if s.try(thread.PostMessage{Executor: user, Message: id, Text: text}) == nil {
			s.posted = append(s.posted, posting{id: id, sender: user})
		}
	}
}

// records are the thread's events as a source would tell of them, from one seq_nr to another.
func (s *story) records(from, to uint64) []projection.Record {
	var records []projection.Record
	for _, event := range s.journal.Of(s.key) {
		if event.SeqNr >= from && event.SeqNr <= to {
			records = append(records, recordOf(event))
		}
	}
	return records
}

func (s *story) all() []projection.Record { return s.records(1, s.version) }

func recordOf(event usecase.Recorded[thread.Event]) projection.Record {
	return projection.Record{Key: event.Key(), SeqNr: event.SeqNr, Event: event}
}
