package projectiontest

import (
	"context"
	"fmt"
	"reflect"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
	"example.com/threads/usecase/projection"
)

// expected says, event by event and without the projection's own code, what rows the journal's events add up to.
func expected(journal *Journal) projection.Rows {
	rows := projection.NewRows()
	for _, key := range journal.Keys() {
		var row projection.Thread
		for _, recorded := range journal.Of(key) {
			member := func(id thread.MemberID, change func(*projection.Member)) {
				at := projection.MemberKey{Tenant: key.Tenant, ID: id}
				changed := rows.Members[at]
				change(&changed)
				changed.UpdatedAt = recorded.OccurredAt
				rows.Members[at] = changed
			}
			message := func(id thread.MessageID, change func(*projection.Message)) {
				at := projection.MessageKey{Tenant: key.Tenant, ID: id}
				changed := rows.Messages[at]
				change(&changed)
				changed.UpdatedAt = recorded.OccurredAt
				rows.Messages[at] = changed
			}
			join := func(joined thread.Member) {
				member(joined.ID, func(m *projection.Member) {
					m.Key, m.Thread, m.User = projection.MemberKey{Tenant: key.Tenant, ID: joined.ID}, chat.ThreadID(key), joined.User
					m.Role, m.JoinedSeq, m.CreatedAt = joined.Role.String(), recorded.SeqNr, recorded.OccurredAt
				})
			}
			switch e := recorded.Event.(type) {
			case thread.Created:
				row = projection.Thread{Key: key, Name: e.Name.String(), Owner: e.Members[0].User, CreatedAt: recorded.OccurredAt}
				join(e.Members[0])
			case thread.Renamed:
				row.Name = e.Name.String()
			case thread.Deleted:
				row.Deleted = true
			case thread.MemberAdded:
				join(e.Member)
			case thread.MemberRemoved:
				member(e.Member, func(m *projection.Member) { m.Removed = true })
			case thread.MemberRoleChanged:
				member(e.Member, func(m *projection.Member) { m.Role = e.Role.String() })
			case thread.MessagePosted:
				message(e.Message.ID, func(m *projection.Message) {
					m.Key, m.Thread = projection.MessageKey{Tenant: key.Tenant, ID: e.Message.ID}, chat.ThreadID(key)
					m.Sender, m.Text, m.SeqNr, m.CreatedAt = e.Message.Sender, e.Message.Text.String(), recorded.SeqNr, recorded.OccurredAt
				})
			case thread.MessageEdited:
				message(e.Message.ID, func(m *projection.Message) { m.Text = e.Message.Text.String() })
			case thread.MessageDeleted:
				message(e.Message, func(m *projection.Message) { m.Text, m.Deleted = "", true })
			}
			row.Version, row.UpdatedAt = recorded.SeqNr, recorded.OccurredAt
		}
		rows.Threads[key] = row
	}
	return rows
}

// difference is how the rows of the read model differ from what the journal says; nil where they do not.
func difference(ctx context.Context, readModel projection.ReadModel, journal *Journal) error {
	want := expected(journal)
	var wanted projection.Wanted
	for key := range want.Threads {
		wanted.Threads = append(wanted.Threads, key)
	}
	for key := range want.Members {
		wanted.Members = append(wanted.Members, key)
	}
	for key := range want.Messages {
		wanted.Messages = append(wanted.Messages, key)
	}
	var got projection.Rows
	err := readModel.Change(ctx, func(ctx context.Context, tx projection.Tx) (err error) {
		got, err = tx.Load(ctx, wanted)
		return err
	})
	if err != nil {
		return err
	}
	for key, row := range want.Threads {
		if !reflect.DeepEqual(got.Threads[key], row) {
			return fmt.Errorf("the thread is\n%+v and should be\n%+v", got.Threads[key], row)
		}
	}
	for key, row := range want.Members {
		if !reflect.DeepEqual(got.Members[key], row) {
			return fmt.Errorf("the member is\n%+v and should be\n%+v", got.Members[key], row)
		}
	}
	for key, row := range want.Messages {
		if !reflect.DeepEqual(got.Messages[key], row) {
			return fmt.Errorf("the message is\n%+v and should be\n%+v", got.Messages[key], row)
		}
	}
	for key, letter := range got.Parked {
		return fmt.Errorf("thread %s is parked: %+v", chat.ThreadID(key), letter)
	}
	return nil
}

// versionOf is the version that a thread's rows have; 0 where there are none.
func versionOf(ctx context.Context, t tb, readModel projection.ReadModel, key usecase.Key) uint64 {
	t.Helper()
	versions, err := readModel.Versions(ctx, []usecase.Key{key})
	if err != nil {
		t.Fatalf("read the version: %v", err)
	}
	return versions[key]
}
