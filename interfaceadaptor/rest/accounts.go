package rest

import (
	"net/http"

	"example.com/threads/domain/account"
	"example.com/threads/domain/writing"
	"example.com/threads/es"
	"example.com/threads/usecase/chat"
)

// The operations on accounts. A caller acts on their own account, so no body names one.

// OnAccount returns the request for a command on the executor's account.
func (b By) OnAccount(c account.Command) es.Request[account.Command] {
	return es.Request[account.Command]{ID: b.Executor.String(), Command: c, Name: account.CommandName(c)}
}

// AccountAnswer is the answer to a command on an account.
type AccountAnswer struct {
	AccountID string `json:"account_id" doc:"The account: the id of its user account, which is the executor's." example:"01H42K4ABWQ5V2XQEP3A48VE0Z"`
	Version   uint64 `json:"version" doc:"The account's version after the command: 1, 2, 3 and so on." minimum:"1" example:"2"`
}

func AccountAnswerOf(r es.Result) AccountAnswer { return AccountAnswer{r.Key.ID, r.Version} }

type registerAccount struct {
	By
	Name writing.Name `json:"name" doc:"The account's name: 1 to 64 characters after trimming, none of them a control character." minLength:"1" maxLength:"64" example:"Ada"`
}

type renameAccount struct {
	By
	Name writing.Name `json:"name" doc:"The account's new name: 1 to 64 characters after trimming, none of them a control character." minLength:"1" maxLength:"64" example:"Ada L."`
}

type closeAccount struct{ By }

// Accounts returns accounts with their operations.
func Accounts(accounts chat.Service[account.Command]) Aggregate {
	return Aggregate{Name: "accounts", About: "Commands of user accounts on the account that gives them a name.", Operations: []Operation{
		{
			Path: "/accounts/register", Status: http.StatusCreated, Summary: "Register an account",
			Description: "Gives the executor's user account a name. Threads take user accounts without one, too.",
			Do: Command(accounts, AccountAnswerOf, func(b registerAccount) es.Request[account.Command] {
				return b.OnAccount(account.Register{Name: b.Name})
			}),
			Rejections: []error{account.ErrAccountExists},
			Without:    []string{IfMatch},
		},
		{
			Path: "/accounts/rename", Summary: "Rename an account",
			Description: "Gives the executor's account another name.",
			Do: Command(accounts, AccountAnswerOf, func(b renameAccount) es.Request[account.Command] {
				return b.OnAccount(account.Rename{Name: b.Name})
			}),
			Rejections: []error{account.ErrAccountNotFound, account.ErrAccountClosed, account.ErrNameUnchanged},
		},
		{
			Path: "/accounts/close", Summary: "Close an account",
			Description: "Ends the executor's account for good. Within seconds it leaves all of its threads; where it is the last Admin, the member who joined first becomes Admin, and a thread that nobody is left in is deleted.",
			Do: Command(accounts, AccountAnswerOf, func(b closeAccount) es.Request[account.Command] {
				return b.OnAccount(account.Close{})
			}),
			Rejections: []error{account.ErrAccountNotFound, account.ErrAccountClosed},
		},
	}}
}
