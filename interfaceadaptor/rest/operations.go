package rest

import (
	"cmp"
	"net/http"
	"slices"

	"example.com/threads/interfaceadaptor/access"
)

// operation is something that clients can ask for. All operations are served by [api.serve] and described by
// [document].
type operation struct {
	path        string
	summary     string
	description string
	status      int // of success; 0: 200
	perform     performer
	rejections  []error      // those of the domain that can come back
	scope       access.Scope // that a token needs; empty: access.Write
	without     []string     // request headers that make no sense here: one that carries a condition is refused
}

// operations is the table of all operations.
func operations(services Services) []operation {
	return slices.Concat(onThreads(services.Threads), onAccounts(services.Accounts))
}

func (o operation) needs() access.Scope { return cmp.Or(o.scope, access.Write) }

func (o operation) successStatus() int {
	if o.status == 0 {
		return http.StatusOK
	}
	return o.status
}
