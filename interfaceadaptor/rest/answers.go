package rest

import (
	"example.com/threads/domain/thread"
	"example.com/threads/es"
	"example.com/threads/usecase/chat"
)

// The response bodies.

// ThreadAnswer is the answer to a command on a thread.
type ThreadAnswer struct {
	ThreadID string `json:"thread_id" doc:"The thread." example:"01H42K4ABWQ5V2XQEP3A48VE0Z"`
	Version  uint64 `json:"version" doc:"The thread's version after the command: 1, 2, 3 and so on." minimum:"1" example:"7"`
}

func threadAnswerOf(r es.Result) ThreadAnswer {
	return ThreadAnswer{ThreadID: r.Key.ID, Version: r.Version}
}

type createdAnswer struct {
	ThreadAnswer
	Code string `json:"code,omitempty" doc:"The short name that people call the thread by: unique in the tenant, and never changed. A repeat of a creation from before there were codes has none." example:"THREAD-000001"`
}

func createdAnswerOf(r es.Result) createdAnswer {
	return createdAnswer{threadAnswerOf(r), r.About[chat.AnswerCode]}
}

type memberAnswer struct {
	ThreadAnswer
	MemberID string `json:"member_id" doc:"The member that the command was about." example:"01H42KBHCWA8NE32M49YH544H1"`
}

func memberAnswerOf(r es.Result) memberAnswer {
	return memberAnswer{threadAnswerOf(r), r.About[chat.AnswerMember]}
}

type messageAnswer struct {
	ThreadAnswer
	MessageID string `json:"message_id" doc:"The message that the command was about." example:"01H42KBHCWBDTZYQ7P78T8BTWX"`
}

func messageAnswerOf(r es.Result) messageAnswer {
	return messageAnswer{threadAnswerOf(r), r.About[chat.AnswerMessage]}
}

// AccountAnswer is the answer to a command on an account.
type AccountAnswer struct {
	AccountID string `json:"account_id" doc:"The account: the id of its user account, which is the executor's." example:"01H42K4ABWQ5V2XQEP3A48VE0Z"`
	Version   uint64 `json:"version" doc:"The account's version after the command: 1, 2, 3 and so on." minimum:"1" example:"2"`
}

func accountAnswerOf(r es.Result) AccountAnswer {
	return AccountAnswer{AccountID: r.Key.ID, Version: r.Version}
}

type snapshotAnswer struct {
	ThreadID        string `json:"thread_id" doc:"The thread." example:"01H42K4ABWQ5V2XQEP3A48VE0Z"`
	SnapshotVersion uint64 `json:"snapshot_version" doc:"The version of the state that was stored." minimum:"1" example:"7"`
}

func snapshotAnswerOf(id thread.ID, version uint64) snapshotAnswer {
	return snapshotAnswer{ThreadID: id.String(), SnapshotVersion: version}
}
