package model

import (
	"time"

	"example.com/threads/domain/thread"
	"example.com/threads/usecase/query"
)

// Thread is the schema's Thread.
type Thread struct {
	ID        string
	Code      *string // nil: the thread was created before codes existed
	Name      string
	OwnerID   string
	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
	CreatedBy string
	UpdatedBy string

	Key      thread.ID // the parsed ID
	Siblings *Siblings // reads the members and messages of all threads in the list together
}

// Member is the schema's Member.
type Member struct {
	ID            string
	ThreadID      string
	UserAccountID string
	Role          Role
	CreatedAt     time.Time
	UpdatedAt     time.Time
	CreatedBy     string
	UpdatedBy     string

	Accounts AccountOf
}

// Message is the schema's Message.
type Message struct {
	ID            string
	ThreadID      string
	UserAccountID string
	Text          string
	CreatedAt     time.Time
	UpdatedAt     time.Time
	CreatedBy     string
	UpdatedBy     string

	Accounts AccountOf
}

// Account is the schema's Account.
type Account struct {
	ID        string
	Name      string
	Closed    bool
	Version   int
	CreatedAt time.Time
	UpdatedAt time.Time
}

// NewThread converts a thread of the list that siblings reads.
func NewThread(t query.Thread, siblings *Siblings) Thread {
	var code *string
	if text := t.Code.String(); text != "" {
		code = &text
	}
	return Thread{
		ID: t.ID.String(), Code: code, Name: t.Name, OwnerID: t.Owner.String(), Version: int(t.Version),
		CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
		CreatedBy: t.CreatedBy.String(), UpdatedBy: t.UpdatedBy.String(), Key: t.ID, Siblings: siblings,
	}
}

// NewMember converts a member of the list whose accounts are given.
func NewMember(m query.Member, accounts *Accounts) Member {
	return Member{
		ID: m.ID.String(), ThreadID: m.Thread.String(), UserAccountID: m.User.String(), Role: Role(m.Role),
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
		CreatedBy: m.CreatedBy.String(), UpdatedBy: m.UpdatedBy.String(), Accounts: AccountOf{accounts, m.User},
	}
}

// NewMessage converts a message of the list whose accounts are given.
func NewMessage(m query.Message, accounts *Accounts) Message {
	return Message{
		ID: m.ID.String(), ThreadID: m.Thread.String(), UserAccountID: m.Sender.String(), Text: m.Text,
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
		CreatedBy: m.CreatedBy.String(), UpdatedBy: m.UpdatedBy.String(), Accounts: AccountOf{accounts, m.Sender},
	}
}

// NewAccount converts an account.
func NewAccount(a query.Account) Account {
	return Account{
		ID: a.ID.String(), Name: a.Name, Closed: a.Closed, Version: int(a.Version), CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
	}
}
