// Package ident holds what aggregates share: identifiers ([Of]), and errors that reject a value or a command
// ([InvalidError], [Rejection]). It knows no aggregate.
package ident
