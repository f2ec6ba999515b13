package graphql

import (
	"context"

	"example.com/threads/domain/ident"
	"example.com/threads/interfaceadaptor/graphql/model"
)

// GetAccount resolves Query.getAccount.
func (r queryResolver) GetAccount(ctx context.Context, accountID string) (model.Account, error) {
	id, err := parseID[ident.UserAccount]("accountId", accountID)
	if err != nil {
		return model.Account{}, err
	}
	found, err := r.queries.Account(ctx, askerOf(ctx).Tenant, id)
	return model.NewAccount(found), err
}

// memberResolver resolves a member's account, in one read with the accounts of all members in the answer.
type memberResolver struct{}

// Account resolves Member.account.
func (memberResolver) Account(ctx context.Context, m *model.Member) (*model.Account, error) {
	return m.Accounts.Read(ctx)
}

// messageResolver resolves a message's sender, in one read with the senders of all messages in the answer.
type messageResolver struct{}

// Sender resolves Message.sender.
func (messageResolver) Sender(ctx context.Context, m *model.Message) (*model.Account, error) {
	return m.Accounts.Read(ctx)
}
