package erasure

import (
	"example.com/threads/domain/account"
	"example.com/threads/domain/ident"
	"example.com/threads/es"
	"example.com/threads/interfaceadaptor/rest"
	"example.com/threads/usecase/chat"
)

// ErrErasureOff: a person can't be erased, because texts are not sealed.
var ErrErasureOff = ident.Conflict("erasure_off", "texts are not sealed here, so that nobody can be erased; ask those who run the service for ERASURE=on")

type eraseAccount struct{ rest.By }

// Operation returns what erases an account. accounts are those of [Keyring.Commands].
func Operation(accounts chat.Service[account.Command]) rest.Operation {
	return rest.Operation{
		Path: "/accounts/erase", Summary: "Erase an account",
		Description: "Forgets the executor for good. Within seconds every text and name that they ever wrote is shown as `[erased]`, to everybody and everywhere, and their account is closed. Versions and order stay. It works for user accounts that never registered, too, and only with `ERASURE=on`.",
		Do:          rest.Command(accounts, rest.AccountAnswerOf, func(b eraseAccount) es.Request[account.Command] { return b.OnAccount(account.Erase{}) }),
		Rejections:  []error{account.ErrAccountErased, ErrErasureOff},
	}
}
