package accountcodec

import (
	"errors"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/writing"
	"example.com/threads/es/eventcodec"
)

// Events is the codec of accounts' events.
func Events() *eventcodec.Codec[account.Event] {
	return eventcodec.New(account.AggregateType, ident.Canonical,
		eventcodec.Event[account.Event]("AccountRegistered",
			func(e account.Registered) wireName { return wireName{e.Name.String()} },
			func(w wireName) (e account.Registered, err error) { e.Name, err = w.name(); return e, err }),
		eventcodec.Event[account.Event]("AccountRenamed",
			func(e account.Renamed) wireName { return wireName{e.Name.String()} },
			func(w wireName) (e account.Renamed, err error) { e.Name, err = w.name(); return e, err }),
		eventcodec.Event[account.Event]("AccountClosed",
			func(account.Closed) struct{} { return struct{}{} },
			func(struct{}) (account.Closed, error) { return account.Closed{}, nil }),
		eventcodec.Event[account.Event]("AccountErased",
			func(account.Erased) struct{} { return struct{}{} },
			func(struct{}) (account.Erased, error) { return account.Erased{}, nil }),
	)
}

type wireName struct {
	Name string `json:"name"`
}

func (w wireName) name() (writing.Name, error) {
	if w.Name == "" {
		return writing.Name{}, errors.New("name must be there")
	}
	return writing.RecordedName(w.Name), nil
}
