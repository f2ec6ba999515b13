package chat

import (
	"errors"

	"example.com/threads/domain/account"
	"example.com/threads/es"
	"example.com/threads/usecase/query"
)

// AccountRowsVersion rises with every change that makes other rows of the same events; see [ThreadRowsVersion].
const AccountRowsVersion = 2

// ErasedName is shown in place of the name of an erased account.
const ErasedName = "[erased]"

// NextAccount is the row after recorded, the next event of its account.
func NextAccount(row query.Account, exists bool, recorded es.Recorded[account.Event]) (query.Account, error) {
	by, err := query.AuditOf(recorded.Envelope)
	if err != nil {
		return row, err
	}
	registered, begins := recorded.Event.(account.Registered)
	switch {
	case begins && exists:
		return row, errors.New("the account exists already")
	case begins:
		return query.Account{
			Tenant: recorded.Tenant, ID: AccountID(recorded.Aggregate()), Name: registered.Name.String(), Version: recorded.SeqNr,
			CreatedAt: recorded.OccurredAt, UpdatedAt: recorded.OccurredAt, Audit: by,
		}, nil
	case !exists && isErased(recorded.Event): // of a user account without a name
		row = query.Account{Tenant: recorded.Tenant, ID: AccountID(recorded.Aggregate()), CreatedAt: recorded.OccurredAt, Audit: by}
	case !exists:
		return row, errors.New("the account does not exist")
	case row.Closed && !isErased(recorded.Event):
		return row, errors.New("the account is closed")
	}
	switch e := recorded.Event.(type) {
	case account.Registered: // see above
	case account.Renamed:
		row.Name = e.Name.String()
	case account.Closed:
		row.Closed = true
	case account.Erased:
		row.Closed, row.Name = true, ErasedName
	}
	row.Version, row.UpdatedAt, row.Audit = recorded.SeqNr, recorded.OccurredAt, query.ChangedBy(by, row.Audit)
	return row, nil
}

func isErased(event account.Event) bool {
	_, is := event.(account.Erased)
	return is
}
