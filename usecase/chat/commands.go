package chat

import (
	"example.com/threads/domain/thread"
	"example.com/threads/es"
)

// ThreadCommands is the service that handles commands on threads.
type ThreadCommands = es.Service[thread.Thread, thread.Command, thread.Event]

// The names in an answer, beside the thread and its version.
const (
	AnswerCode    = "code"
	AnswerMember  = "member_id"
	AnswerMessage = "message_id"
)

// ThreadAnswer returns the new thread's code, or the member or message that a command concerned.
func ThreadAnswer(events []thread.Event) map[string]string {
	about := map[string]string{}
	for _, event := range events {
		switch e := event.(type) {
		case thread.Created:
			about[AnswerCode] = e.Code.String()
		case thread.Renamed, thread.Deleted:
		case thread.MemberAdded:
			about[AnswerMember] = e.Member.ID.String()
		case thread.MemberRemoved:
			about[AnswerMember] = e.Member.String()
		case thread.MemberRoleChanged:
			about[AnswerMember] = e.Member.String()
		case thread.MessagePosted:
			about[AnswerMessage] = e.Message.ID.String()
		case thread.MessageEdited:
			about[AnswerMessage] = e.Message.ID.String()
		case thread.MessageDeleted:
			about[AnswerMessage] = e.Message.String()
		}
	}
	return about
}
