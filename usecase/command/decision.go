package command

import (
	"fmt"
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase"
	"example.com/threads/usecase/chat"
)

// decision is what became of a call: a result and its events, or a rejection.
type decision struct {
	call   *call
	events []usecase.Recorded[thread.Event]
	result Result
	err    error
}

// decide judges the calls one after the other, each on what those before it lead to.
func (s *Service) decide(key usecase.Key, state thread.Thread, calls []*call) []decision {
	decided := make([]decision, 0, len(calls))
	now := s.settings.Clock().UTC().Truncate(time.Microsecond)
	for _, c := range calls {
		d := decision{call: c}
		var events []thread.Event
		if events, d.err = judge(state, c); d.err == nil {
			for _, event := range events {
				state = state.Apply(event)
				d.events = append(d.events, s.record(key, state.Version(), now, c, event))
			}
			d.result = resultOf(key, state.Version(), events)
		}
		decided = append(decided, d)
	}
	return decided
}

func judge(state thread.Thread, c *call) ([]thread.Event, error) {
	wanted := c.request.IfVersion
	if wanted != 0 && state.Version() != 0 && wanted != state.Version() {
		return nil, &usecase.VersionMismatchError{Expected: wanted, Current: state.Version()}
	}
	return thread.Decide(state, c.command)
}

func (s *Service) record(key usecase.Key, seqNr uint64, now time.Time, c *call, event thread.Event) usecase.Recorded[thread.Event] {
	caller := c.request.Caller
	if caller.CausationID == "" {
		caller.CausationID = c.commandID // nothing but the command itself caused its events
	}
	return usecase.Recorded[thread.Event]{
		Envelope: usecase.Envelope{
			EventID:       newID[thread.Event](s).String(),
			AggregateType: key.Type,
			AggregateID:   key.ID,
			SeqNr:         seqNr,
			OccurredAt:    now,
			CommandID:     c.commandID,
			Caller:        caller,
		},
		Event: event,
	}
}

// resultOf tells the caller which version the thread has now, and which member or message the command was about.
func resultOf(key usecase.Key, version uint64, events []thread.Event) Result {
	result := Result{Thread: chat.ThreadID(key), Version: version}
	for _, event := range events {
		switch e := event.(type) {
		case thread.Created, thread.Renamed, thread.Deleted:
		case thread.MemberAdded:
			result.Member = e.Member.ID
		case thread.MemberRemoved:
			result.Member = e.Member
		case thread.MemberRoleChanged:
			result.Member = e.Member
		case thread.MessagePosted:
			result.Message = e.Message.ID
		case thread.MessageEdited:
			result.Message = e.Message.ID
		case thread.MessageDeleted:
			result.Message = e.Message
		default:
			panic(fmt.Sprintf("command: no result for event %T", event))
		}
	}
	return result
}
