package account_test

import (
	"testing"

	"example.com/threads/domain/account"
	"example.com/threads/domain/writing"
	"example.com/threads/tests/kit"
)

var (
	accounts = kit.Decider[account.Account, account.Command, account.Event]{Decide: account.Decide, Apply: account.Account.Apply}

	ada, countess = writing.RecordedName("Ada"), writing.RecordedName("Countess of Lovelace")
	registered    = account.Registered{Name: ada}
	renamed       = account.Renamed{Name: countess}
	closed        = account.Closed{}
	erased        = account.Erased{} // extra:erasure
)

func TestRules(t *testing.T) {
	rule := func(name string) kit.Rule[account.Account, account.Command, account.Event] {
		return accounts.Rule(t, name)
	}

	rule("anyone registers").When(account.Register{Name: ada}).Then(registered)
	rule("an account is registered once").Given(registered).When(account.Register{Name: countess}).Rejected(account.ErrAccountExists)
	rule("a closed account is not registered again").Given(registered, closed).When(account.Register{Name: ada}).Rejected(account.ErrAccountExists)

	rule("an account is renamed").Given(registered).When(account.Rename{Name: countess}).Then(renamed)
	rule("an earlier name is accepted again").Given(registered, renamed).When(account.Rename{Name: ada}).Then(account.Renamed{Name: ada})
	rule("the same name is rejected").Given(registered).When(account.Rename{Name: ada}).Rejected(account.ErrNameUnchanged)
	rule("an account that does not exist is not renamed").When(account.Rename{Name: ada}).Rejected(account.ErrAccountNotFound)
	rule("a closed account is not renamed").Given(registered, closed).When(account.Rename{Name: countess}).Rejected(account.ErrAccountClosed)

	rule("an account is closed").Given(registered).When(account.Close{}).Then(closed)
	rule("an account is closed once").Given(registered, closed).When(account.Close{}).Rejected(account.ErrAccountClosed)
	rule("an account that does not exist is not closed").When(account.Close{}).Rejected(account.ErrAccountNotFound)

	rule("an account is erased").Given(registered).When(account.Erase{}).Then(erased) // extra:erasure {
	rule("an erased account is not registered again").Given(erased).When(account.Register{Name: ada}).Rejected(account.ErrAccountExists)
	rule("a closed account is erased").Given(registered, closed).When(account.Erase{}).Then(erased)
	rule("an account is erased once").Given(registered, erased).When(account.Erase{}).Rejected(account.ErrAccountErased)
	rule("an erased account is closed").Given(registered, erased).When(account.Rename{Name: ada}).Rejected(account.ErrAccountClosed)
	rule("an account that never existed is erased").When(account.Erase{}).Then(erased) // extra:erasure }
}
