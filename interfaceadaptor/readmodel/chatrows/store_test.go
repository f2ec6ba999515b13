package chatrows_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	mathrand "math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/domain/writing"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/interfaceadaptor/readmodel/projectionstore"
	"example.com/threads/interfaceadaptor/threadcodec"
	"example.com/threads/tests/readmodeltest"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/projection"
)

// TestRowsAreWhatTheFoldSays lets anything happen in threads of two tenants and projects it in batches of any size. The
// rows in the database must be those that the fold, whose own test is in usecase/chat, makes of all events at once.
func TestRowsAreWhatTheFoldSays(t *testing.T) {
	readmodeltest.Each(t, func(t *testing.T, db *readmodeltest.Database) {
		store, err := projectionstore.New(db.DB, chatrows.Projection)
		if err != nil {
			t.Fatal(err)
		}
		projector := projection.New(store, nil, projection.Options{}, chatrows.Handlers()...)
		random := mathrand.New(mathrand.NewPCG(5, 5))
		want := chat.NewRows()
		var records []projection.Record
		for _, code := range []string{"", "acme", "acme"} {
			story := begin(t, code)
			for range 150 {
				story.anything(random)
			}
			for _, recorded := range story.events {
				change, err := chat.Fold(want, projection.Event{Envelope: recorded.Envelope, Event: recorded.Event})
				if err != nil {
					t.Fatal(err)
				}
				want.Put(change)
				payload, err := threadcodec.Events().Encode(recorded)
				if err != nil {
					t.Fatal(err)
				}
				records = append(records, projection.Record{Key: recorded.Key(), SeqNr: recorded.SeqNr, Payload: payload})
			}
		}
		for len(records) > 0 {
			n := min(1+random.IntN(80), len(records))
			if outcome, err := projector.Project(t.Context(), projection.Batch{Records: records[:n]}); err != nil || outcome.Applied != n {
				t.Fatalf("%+v, %v", outcome, err)
			}
			records = records[n:]
		}

		got := chat.NewRows()
		maps.Copy(got.Threads, want.Threads)
		maps.Copy(got.Members, want.Members)
		maps.Copy(got.Messages, want.Messages)
		err = store.Change(t.Context(), func(ctx context.Context, tx projection.Tx) error { return chatrows.Store{}.Load(ctx, tx, got) })
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("the rows are\n%+v and should be\n%+v", got, want)
		}
	})
}

// story is a thread whose events are made by the domain's own decisions.
type story struct {
	key    usecase.Key
	state  thread.Thread
	admin  thread.UserID
	users  []thread.UserID
	posted []thread.Message
	at     time.Time
	events []usecase.Recorded[thread.Event]
}

func begin(t *testing.T, code string) *story {
	t.Helper()
	tenant, err := usecase.ParseTenant(code)
	if err != nil {
		t.Fatal(err)
	}
	s := &story{key: chat.ThreadKey(tenant, newID[thread.Thread]()), admin: newID[ident.UserAccount](), at: time.UnixMicro(1700000000123456).UTC()}
	s.try(thread.Create{Executor: s.admin, Member: newID[thread.Member](), Name: writing.RecordedName("a thread \U0001F600")})
	return s
}

func newID[T any]() ident.Of[T] {
	var entropy [10]byte
	_, _ = rand.Read(entropy[:]) // never fails
	return ident.New[T](time.Now(), entropy)
}

// try lets a command happen where the rules allow it.
func (s *story) try(command thread.Command) bool {
	events, err := thread.Decide(s.state, command)
	for _, event := range events {
		s.state = s.state.Apply(event)
		s.at = s.at.Add(1234567 * time.Microsecond)
		s.events = append(s.events, usecase.Recorded[thread.Event]{
			Envelope: usecase.Envelope{
				EventID: newID[thread.Event]().String(), AggregateType: s.key.Type, AggregateID: s.key.ID, SeqNr: uint64(len(s.events)) + 1,
				OccurredAt: s.at, Caller: usecase.Caller{Tenant: s.key.Tenant, Executor: s.admin.String()},
			},
			Event: event,
		})
	}
	return err == nil
}

// anything lets something happen, chosen by random.
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
		added := newID[ident.UserAccount]()
		if s.try(thread.AddMember{Executor: s.admin, Member: newID[thread.Member](), User: added, Role: role}) {
			s.users = append(s.users, added)
		}
	case choice < 11: // joins again, where it has left
		s.try(thread.AddMember{Executor: s.admin, Member: newID[thread.Member](), User: user, Role: role})
	case choice < 14 && user != s.admin:
		s.try(thread.RemoveMember{Executor: s.admin, User: user})
	case choice < 17 && user != s.admin:
		s.try(thread.ChangeMemberRole{Executor: s.admin, User: user, Role: role})
	case choice < 22:
		s.try(thread.EditMessage{Executor: message.Sender, Message: message.ID, Text: text})
	case choice < 25:
		s.try(thread.DeleteMessage{Executor: s.admin, Message: message.ID})
	default:
		posted := thread.Message{ID: newID[thread.Message](), Sender: user}
		if s.try(thread.PostMessage{Executor: user, Message: posted.ID, Text: text}) {
			s.posted = slices.Concat(s.posted, []thread.Message{posted})
		}
	}
}
