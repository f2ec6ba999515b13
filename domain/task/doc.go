// Package task has the rules of long work: somebody requests it, a worker does it and reports how far it is, and its
// creator may cancel it. What the work consists of is not known here.
package task
