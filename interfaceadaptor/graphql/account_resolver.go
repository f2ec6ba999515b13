package graphql

import (
	"context"

	"example.com/threads/domain/ident"
	"example.com/threads/interfaceadaptor/graphql/model"
)

// GetAccount resolves Query.getAccount.
func (r Resolver) GetAccount(ctx context.Context, accountID string) (model.Account, error) {
	id, err := ParseID[ident.UserAccount]("accountId", accountID)
	if err != nil {
		return model.Account{}, err
	}
	found, err := r.queries.Account(ctx, askerOf(ctx).Tenant, id)
	return model.NewAccount(found), err
}

// MemberFields resolves a member's account, in one read with the accounts of all members in the answer.
type MemberFields struct{}

// Account resolves Member.account.
func (MemberFields) Account(ctx context.Context, m *model.Member) (*model.Account, error) {
	return m.Accounts.Read(ctx)
}

// MessageFields resolves a message's sender, in one read with the senders of all messages in the answer.
type MessageFields struct{}

// Sender resolves Message.sender.
func (MessageFields) Sender(ctx context.Context, m *model.Message) (*model.Account, error) {
	return m.Accounts.Read(ctx)
}
