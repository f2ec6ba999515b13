// Package task has the rules of long work: a client requests it, a worker executes it and reports its progress, and its
// creator may cancel it. The package does not know what the work is.
package task
