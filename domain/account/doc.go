// Package account is the domain of accounts: an account gives a user account id a name, until it is closed.
//
// It is built as package thread is: [Decide] turns a state and a [Command] into events or a rejection, [Account.Apply]
// turns a state and an [Event] into the next state, and both are pure. An account belongs to one user account and only
// that one acts on it, so its commands name nobody.
package account
