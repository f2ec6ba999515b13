package eventjson

import (
	"errors"
	"fmt"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
)

// Accounts is the aggregate type of accounts.
func Accounts() es.Aggregate[account.Account, account.Command, account.Event] {
	return es.Aggregate[account.Account, account.Command, account.Event]{
		Decide: account.Decide, Apply: account.Account.Apply, Usable: account.Account.Usable,
		Events: es.NewCodec(account.AggregateType, ident.Canonical,
			es.Event[account.Event]("AccountRegistered",
				func(e account.Registered) wireName { return wireName{e.Name.String()} },
				es.Complete(func(w wireName) account.Registered { return account.Registered{Name: writing.RecordedName(w.Name)} })),
			es.Event[account.Event]("AccountRenamed",
				func(e account.Renamed) wireName { return wireName{e.Name.String()} },
				es.Complete(func(w wireName) account.Renamed { return account.Renamed{Name: writing.RecordedName(w.Name)} })),
			es.Plain[account.Event, account.Closed]("AccountClosed"),
			es.Plain[account.Event, account.Erased]("AccountErased"), // extra:erasure
		),
		Snapshots: es.JSONSnapshots(func(account.Account) int { return 500 }, wireAccountOf, wireAccount.account),
	}
}

type wireAccount struct {
	Format  int    `json:"format"`
	ID      string `json:"id"`
	Name    string `json:"name"`
	Closed  bool   `json:"closed,omitempty"`
	Erased  bool   `json:"erased,omitempty"` // without a name // extra:erasure
	Version uint64 `json:"version"`
}

const accountFormat = 1 // current version of the JSON of a state

func wireAccountOf(id string, version uint64, state account.Account) (wireAccount, error) {
	wire := wireAccount{Format: accountFormat, ID: id, Name: state.Name.String(), Closed: state.Closed, Version: version}
	wire.Erased = state.Erased // extra:erasure
	return wire, nil
}

func (w wireAccount) account() (id string, version uint64, state account.Account, err error) {
	state = account.Account{Exists: true, Closed: w.Closed, Name: writing.RecordedName(w.Name)}
	isWhole := w.Name != ""
	state.Erased, isWhole = w.Erased, isWhole || w.Erased // extra:erasure
	switch {
	case w.Format > accountFormat:
		return "", 0, state, fmt.Errorf("its format %d is newer than %d", w.Format, accountFormat)
	case !isWhole || w.Version == 0:
		return "", 0, state, errors.New("name and version must be there")
	}
	id, err = ident.Canonical(w.ID)
	return id, w.Version, state, err
}
