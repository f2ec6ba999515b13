package queryreader

import (
	"context"

	"example.com/threads/domain/account"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/readmodel/chatrows"
	"example.com/threads/usecase/query"
)

// Accounts implements [query.Reader].
func (r *Reader) Accounts(ctx context.Context, tenant es.Tenant, ids []account.ID) (map[account.ID]query.Account, error) {
	found := make(map[account.ID]query.Account, len(ids))
	keys := make([][]string, len(ids))
	for i, id := range ids {
		keys[i] = []string{tenant.String(), id.String()}
	}
	if err := chatrows.Accounts.Load(ctx, r.db, keys, "", func(row query.Account) { found[row.ID] = row }); err != nil {
		return nil, r.explain("read accounts of the read model", err)
	}
	return found, nil
}
