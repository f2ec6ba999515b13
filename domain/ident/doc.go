// Package ident is what aggregates share: identifiers ([Of]), and the errors that say why a value or a command is not
// accepted ([InvalidError], [Rejection]). It knows no aggregate.
package ident
