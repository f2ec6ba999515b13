package chat

import (
	"context"
	"errors"
	"fmt"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/usecase"
	"example.com/threads/usecase/projection"
	"example.com/threads/usecase/query"
)

// AccountRow is the key of an account's row.
type AccountRow = RowKey[ident.UserAccount]

// AccountStore stores the rows of accounts. Errors are those of [projection.Store].
type AccountStore interface {
	// Load reads the rows whose keys are in rows, and removes the keys without a row.
	Load(ctx context.Context, tx projection.Tx, rows map[AccountRow]query.Account) error
	// Save inserts or updates rows.
	Save(ctx context.Context, tx projection.Tx, rows map[AccountRow]query.Account) error
}

// AccountRows is the [projection.Handler] of accounts.
type AccountRows struct {
	store  AccountStore
	decode DecodeAccount
}

// DecodeAccount decodes an event of an account. With an error, it returns the event's id if that could be read.
type DecodeAccount func(payload []byte) (usecase.Recorded[account.Event], error)

// NewAccountRows returns a handler that decodes events with decode and stores rows in store.
func NewAccountRows(store AccountStore, decode DecodeAccount) *AccountRows {
	return &AccountRows{store: store, decode: decode}
}

// Type implements [projection.Handler].
func (r *AccountRows) Type() string { return account.AggregateType }

// Decode implements [projection.Handler].
func (r *AccountRows) Decode(payload []byte) (projection.Event, error) {
	recorded, err := r.decode(payload)
	return projection.Event{Envelope: recorded.Envelope, Event: recorded.Event}, err
}

// Load implements [projection.Handler].
func (r *AccountRows) Load(ctx context.Context, tx projection.Tx, events []projection.Event) (projection.Fold, error) {
	rows := make(map[AccountRow]query.Account)
	for _, recorded := range events {
		rows[accountRowOf(recorded)] = query.Account{Tenant: recorded.Tenant, ID: AccountID(recorded.Key())}
	}
	if err := r.store.Load(ctx, tx, rows); err != nil {
		return nil, err
	}
	return &accountFold{
		rows: rows, changed: make(map[AccountRow]query.Account),
		save: func(ctx context.Context, changed map[AccountRow]query.Account) error {
			return r.store.Save(ctx, tx, changed)
		},
	}, nil
}

func accountRowOf(recorded projection.Event) AccountRow {
	return AccountRow{recorded.Tenant, AccountID(recorded.Key())}
}

// accountFold holds the rows of one transaction.
type accountFold struct {
	rows, changed map[AccountRow]query.Account
	save          func(ctx context.Context, changed map[AccountRow]query.Account) error
}

// Save implements [projection.Fold].
func (f *accountFold) Save(ctx context.Context) error { return f.save(ctx, f.changed) }

// Apply implements [projection.Fold].
func (f *accountFold) Apply(recorded projection.Event) error {
	key := accountRowOf(recorded)
	before, exists := f.rows[key]
	row, err := foldAccount(before, exists, recorded)
	if err == nil {
		f.rows[key], f.changed[key] = row, row
	}
	return err
}

// foldAccount returns the row after recorded, the next event of its account.
func foldAccount(row query.Account, exists bool, recorded projection.Event) (query.Account, error) {
	registered, begins := recorded.Event.(account.Registered)
	switch {
	case begins && exists:
		return row, errors.New("the account exists already")
	case begins:
		return query.Account{
			Tenant: recorded.Tenant, ID: AccountID(recorded.Key()), Name: registered.Name.String(), Version: recorded.SeqNr,
			CreatedAt: recorded.OccurredAt, UpdatedAt: recorded.OccurredAt,
		}, nil
	case !exists:
		return row, errors.New("the account does not exist")
	case row.Closed:
		return row, errors.New("the account is closed")
	}
	switch e := recorded.Event.(type) {
	case account.Renamed:
		row.Name = e.Name.String()
	case account.Closed:
		row.Closed = true
	default:
		return row, fmt.Errorf("event %T has no projection", e)
	}
	row.Version, row.UpdatedAt = recorded.SeqNr, recorded.OccurredAt
	return row, nil
}
