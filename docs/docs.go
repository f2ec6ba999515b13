// Package docs holds the documents that programs show.
package docs

import _ "embed"

// Guarantees is guarantees.md: what the system guarantees, and the tests of each guarantee.
//
//go:embed guarantees.md
var Guarantees string
