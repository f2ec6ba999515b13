package accountcodec

import (
	"errors"

	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
)

// Events is the codec of accounts' events.
func Events() *es.Codec[account.Event] {
	return es.NewCodec(account.AggregateType, ident.Canonical,
		es.Event[account.Event]("AccountRegistered",
			func(e account.Registered) wireName { return wireName{e.Name.String()} },
			func(w wireName) (e account.Registered, err error) { e.Name, err = w.name(); return e, err }),
		es.Event[account.Event]("AccountRenamed",
			func(e account.Renamed) wireName { return wireName{e.Name.String()} },
			func(w wireName) (e account.Renamed, err error) { e.Name, err = w.name(); return e, err }),
		es.Event[account.Event]("AccountClosed",
			func(account.Closed) struct{} { return struct{}{} },
			func(struct{}) (account.Closed, error) { return account.Closed{}, nil }),
		es.Event[account.Event]("AccountErased",
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
