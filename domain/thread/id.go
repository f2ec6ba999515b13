package thread

import "example.com/threads/domain/ident"

// AggregateType is what event stores know threads as.
const AggregateType = "thread"

// The identifiers of a thread and of what is in it.
type (
	ID        = ident.Of[Thread]
	MemberID  = ident.Of[Member]
	MessageID = ident.Of[Message]
	UserID    = ident.UserID
)
