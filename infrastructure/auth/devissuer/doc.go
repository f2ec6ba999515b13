// Package devissuer is an OpenID Connect issuer for development: it gives a token to anybody who asks. It is therefore
// to be reached on the loopback interface only, and answers requests to loopback names only, so that no web page can
// ask by a name of its own (DNS rebinding).
//
// Its key is made when it starts: tokens of an earlier run are worth nothing.
package devissuer
