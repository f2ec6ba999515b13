// Package limits limits what each key may use, in requests per second ([Rate]) and in what is held at once ([Budget]),
// and what the clients of a server may hold open ([Connections]). extras/access uses it.
package limits
