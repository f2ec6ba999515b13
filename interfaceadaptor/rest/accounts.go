package rest

import (
	"net/http"

	"example.com/threads/domain/account"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/usecase/chat"
)

// The operations on accounts. A caller acts on their own account, so no body names one.

// onAccount returns the request for a command on the executor's account.
func (b By) onAccount(c account.Command) es.Request[account.Command] {
	return es.Request[account.Command]{ID: b.Executor.String(), Command: c, Name: account.CommandName(c)}
}

type registerAccount struct {
	By
	Name writing.Name `json:"name" doc:"The account's name: 1 to 64 characters after trimming, none of them a control character." minLength:"1" maxLength:"64" example:"release planning"`
}

func (b registerAccount) Asked() es.Request[account.Command] {
	return b.onAccount(account.Register{Name: b.Name})
}

type renameAccount struct {
	By
	Name writing.Name `json:"name" doc:"The account's new name: 1 to 64 characters after trimming, none of them a control character." minLength:"1" maxLength:"64" example:"release planning"`
}

func (b renameAccount) Asked() es.Request[account.Command] {
	return b.onAccount(account.Rename{Name: b.Name})
}

type closeAccount struct{ By }

func (b closeAccount) Asked() es.Request[account.Command] { return b.onAccount(account.Close{}) }

type eraseAccount struct{ By }

func (b eraseAccount) Asked() es.Request[account.Command] { return b.onAccount(account.Erase{}) }

// Accounts returns accounts with their operations.
func Accounts(accounts Service[account.Command]) Aggregate {
	return Aggregate{Name: "accounts", About: "Commands of user accounts on the account that gives them a name.", Operations: []Operation{
		{
			Path: "/accounts/register", Status: http.StatusCreated, Summary: "Register an account",
			Description: "Gives the executor's user account a name. Threads take user accounts without one, too.",
			Do:          Command[registerAccount](accounts, accountAnswerOf),
			Rejections:  []error{account.ErrAccountExists, account.ErrAccountErased},
			Without:     []string{IfMatch},
		},
		{
			Path: "/accounts/rename", Summary: "Rename an account",
			Description: "Gives the executor's account another name.",
			Do:          Command[renameAccount](accounts, accountAnswerOf),
			Rejections:  []error{account.ErrAccountNotFound, account.ErrAccountClosed, account.ErrNameUnchanged, account.ErrAccountErased},
		},
		{
			Path: "/accounts/close", Summary: "Close an account",
			Description: "Ends the executor's account for good. Within seconds it leaves all of its threads; where it is the last Admin, the member who joined first becomes Admin, and a thread that nobody is left in is deleted.",
			Do:          Command[closeAccount](accounts, accountAnswerOf),
			Rejections:  []error{account.ErrAccountNotFound, account.ErrAccountClosed},
		},
		{
			Path: "/accounts/erase", Summary: "Erase an account",
			Description: "Forgets the executor for good. Within seconds every text and name that they ever wrote is shown as `[erased]`, to everybody and everywhere, and their account is closed. Versions and order stay. It works for user accounts that never registered, too, and only with `ERASURE=on`.",
			Do:          Command[eraseAccount](accounts, accountAnswerOf),
			Rejections:  []error{account.ErrAccountErased, chat.ErrErasureOff},
		},
	}}
}
