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
func (e Executor) onAccount(c account.Command) es.Request[account.Command] {
	return es.Request[account.Command]{ID: e.executor().String(), Command: c, Name: account.CommandName(c)}
}

type registerAccount struct {
	Executor
	Name writing.Name `json:"name" doc:"The account's name: 1 to 64 characters after trimming, none of them a control character." minLength:"1" maxLength:"64" example:"release planning"`
}

func (b registerAccount) asked() es.Request[account.Command] {
	return b.onAccount(account.Register{Name: b.Name})
}

type renameAccount struct {
	Executor
	Name writing.Name `json:"name" doc:"The account's new name: 1 to 64 characters after trimming, none of them a control character." minLength:"1" maxLength:"64" example:"release planning"`
}

func (b renameAccount) asked() es.Request[account.Command] {
	return b.onAccount(account.Rename{Name: b.Name})
}

type closeAccount struct{ Executor }

func (b closeAccount) asked() es.Request[account.Command] { return b.onAccount(account.Close{}) }

type eraseAccount struct{ Executor }

func (b eraseAccount) asked() es.Request[account.Command] { return b.onAccount(account.Erase{}) }

// Accounts returns accounts with their operations.
func Accounts(accounts Service[account.Command]) Aggregate {
	return Aggregate{name: "accounts", about: "Commands of user accounts on the account that gives them a name.", operations: []operation{
		{
			path: "/accounts/register", status: http.StatusCreated, summary: "Register an account",
			description: "Gives the executor's user account a name. Threads take user accounts without one, too.",
			perform:     handle[registerAccount](accounts, accountAnswerOf),
			rejections:  []error{account.ErrAccountExists, account.ErrAccountErased},
			without:     []string{ifMatch},
		},
		{
			path: "/accounts/rename", summary: "Rename an account",
			description: "Gives the executor's account another name.",
			perform:     handle[renameAccount](accounts, accountAnswerOf),
			rejections:  []error{account.ErrAccountNotFound, account.ErrAccountClosed, account.ErrNameUnchanged, account.ErrAccountErased},
		},
		{
			path: "/accounts/close", summary: "Close an account",
			description: "Ends the executor's account for good. Within seconds it leaves all of its threads; where it is the last Admin, the member who joined first becomes Admin, and a thread that nobody is left in is deleted.",
			perform:     handle[closeAccount](accounts, accountAnswerOf),
			rejections:  []error{account.ErrAccountNotFound, account.ErrAccountClosed},
		},
		{
			path: "/accounts/erase", summary: "Erase an account",
			description: "Forgets the executor for good. Within seconds every text and name that they ever wrote is shown as `[erased]`, to everybody and everywhere, and their account is closed. Versions and order stay. It works for user accounts that never registered, too, and only with `ERASURE=on`.",
			perform:     handle[eraseAccount](accounts, accountAnswerOf),
			rejections:  []error{account.ErrAccountErased, chat.ErrErasureOff},
		},
	}}
}
