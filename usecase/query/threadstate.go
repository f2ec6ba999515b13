package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.com/threads/domain/ident"
	"example.com/threads/domain/thread"
	"example.com/threads/es"
)

// ThreadState is a thread's state at a version. A deleted thread has neither members nor messages; the version before
// has them.
//
// The state contains the members and messages with the numbers of their events. Times and texts are read from these
// events, because a state with the texts of 100,000 messages would be too large.
type ThreadState struct {
	Version uint64
	Name    string
	Deleted bool

	state   thread.Thread
	journal ThreadJournal
	key     es.AggregateID
}

// StateMember is a member in an earlier state.
type StateMember struct {
	User      thread.UserID
	Role      thread.Role
	CreatedAt time.Time // when the member joined
}

// StateMessage is a message in an earlier state.
type StateMessage struct {
	ID        thread.MessageID
	Sender    thread.UserID
	Text      string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Members returns all members, in the order of joining.
func (s ThreadState) Members(ctx context.Context) ([]StateMember, error) {
	var seqNrs []uint64
	participants := s.state.Participants()
	for _, p := range participants {
		seqNrs = append(seqNrs, p.Joined)
	}
	joined := map[uint64]time.Time{}
	err := s.read(ctx, seqNrs, func(recorded es.Recorded[thread.Event]) { joined[recorded.SeqNr] = recorded.OccurredAt })
	members := make([]StateMember, len(participants))
	for i, p := range participants {
		members[i] = StateMember{User: p.User, Role: p.Role, CreatedAt: joined[p.Joined]}
	}
	return members, err
}

// Messages returns at most limit messages in the order of posting, after a message of this version; the zero id means
// from the beginning.
func (s ThreadState) Messages(ctx context.Context, limit int, after thread.MessageID) ([]StateMessage, error) {
	digests, err := s.state.MessagesAfter(after, limit)
	if errors.Is(err, thread.ErrMessageNotFound) {
		return nil, &ident.InvalidError{Field: "after", Reason: "must be the id of a message that the thread had at this version"}
	}
	if err != nil {
		return nil, err
	}
	var seqNrs []uint64
	for _, digest := range digests {
		seqNrs = append(seqNrs, digest.Posted)
		if digest.Edited > 0 {
			seqNrs = append(seqNrs, digest.Edited)
		}
	}
	events := map[uint64]es.Recorded[thread.Event]{}
	if err := s.read(ctx, seqNrs, func(recorded es.Recorded[thread.Event]) { events[recorded.SeqNr] = recorded }); err != nil {
		return nil, err
	}
	messages := make([]StateMessage, len(digests))
	for i, digest := range digests {
		last := events[max(digest.Posted, digest.Edited)]
		said, err := messageOf(last.Event, digest.ID)
		if err != nil {
			return nil, fmt.Errorf("event %d of %s: %w", last.SeqNr, s.key, err)
		}
		messages[i] = StateMessage{
			ID: digest.ID, Sender: digest.Sender, Text: said.Text.String(),
			CreatedAt: events[digest.Posted].OccurredAt, UpdatedAt: last.OccurredAt,
		}
	}
	return messages, nil
}

// messageOf returns the message in an event.
func messageOf(event thread.Event, id thread.MessageID) (message thread.Message, err error) {
	if posted, is := event.(thread.MessagePosted); is {
		message = posted.Message
	}
	if edited, is := event.(thread.MessageEdited); is {
		message = edited.Message
	}
	if message.ID != id {
		err = fmt.Errorf("it has no text of message %s", id)
	}
	return message, err
}

// read passes the events with these numbers, in any order, to visit.
func (s ThreadState) read(ctx context.Context, seqNrs []uint64, visit func(es.Recorded[thread.Event])) error {
	slices.Sort(seqNrs)
	for recorded, err := range s.journal.EventsAt(ctx, s.key, slices.Compact(seqNrs)) {
		if err != nil {
			return err
		}
		visit(recorded)
	}
	return nil
}
