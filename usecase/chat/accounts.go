package chat

import (
	"errors"

	"example.com/threads/domain/account"
	"example.com/threads/es"
	"example.com/threads/usecase/query"
)

// AccountRowsVersion rises with every change that makes other rows of the same events; see [ThreadRowsVersion].
const AccountRowsVersion = 2

// ErasedName is shown in place of the name of an erased account. // extra:erasure {
const ErasedName = "[erased]" // extra:erasure }

// NextAccount is the row after recorded, the next event of its account.
func NextAccount(row query.Account, exists bool, recorded es.Recorded[account.Event]) (query.Account, error) {
	by, err := query.AuditOf(recorded.Envelope)
	if err != nil {
		return row, err
	}
	_, begins := recorded.Event.(account.Registered)
	isClosed := row.Closed
	if _, erases := recorded.Event.(account.Erased); erases { // extra:erasure {
		begins, isClosed = !exists, false // any account can be erased, also one that was never registered
	} // extra:erasure }
	switch {
	case begins && exists:
		return row, errors.New("the account exists already")
	case !begins && !exists:
		return row, errors.New("the account does not exist")
	case isClosed:
		return row, errors.New("the account is closed")
	case begins:
		row = query.Account{Tenant: recorded.Tenant, ID: AccountID(recorded.Aggregate()), CreatedAt: recorded.OccurredAt, Audit: by}
	}
	switch e := recorded.Event.(type) {
	case account.Registered:
		row.Name = e.Name.String()
	case account.Renamed:
		row.Name = e.Name.String()
	case account.Closed:
		row.Closed = true
	case account.Erased: // extra:erasure {
		row.Closed, row.Name = true, ErasedName // extra:erasure }
	}
	row.Version, row.UpdatedAt, row.Audit = recorded.SeqNr, recorded.OccurredAt, query.ChangedBy(by, row.Audit)
	return row, nil
}
