// Package account is the domain of accounts: an account gives a user account id a name, until it is closed.
//
// It has the same structure as package thread: [Decide] turns a state and a [Command] into events or a rejection,
// [Account.Apply] turns a state and an [Event] into the next state, and both are pure. Only its own user account acts
// on an account, so its commands name no executor.
package account
