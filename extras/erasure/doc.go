// Package erasure makes it possible to erase a person's texts. It seals texts with a key of their author, opens them
// for those who may read them, and destroys the key. Only sealed texts are stored and passed on, so destroying the key
// erases the text everywhere. A [Keyring] does this with a [Store] of wrapped keys and a [Master] key.
//
// A keyring wraps what the programs have: [Keyring.Commands], [Keyring.Reader], [Keyring.Journals], [Keyring.Broker].
// [Keyring.Forget] is its consumer.
package erasure
