// Package erasure lets a person be forgotten: it seals texts with a key of their author, opens them for those who may
// read them, and destroys the key. What is stored and passed on in between is the sealed text, so destroying the key
// erases the text everywhere. A [Keyring] does this over a [Store] of wrapped keys and a [Master] key.
//
// It is part of the engine: owners are ids of any kind.
package erasure
