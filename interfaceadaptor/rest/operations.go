package rest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"

	"example.com/threads/extras/access"
)

// operation is one API operation. [api.serve] serves all of them and [document] describes them.
type operation struct {
	path        string
	summary     string
	description string
	status      int // of success; 0: 200
	perform     performer
	stream      streamer     // executes in place of perform, for a body of lines
	rejections  []error      // those of the domain that can come back
	scope       access.Scope // that a token needs; empty: access.Write
	registry    bool         // of no tenant: it changes the registry of tenants
	operators   bool         // operators may do it, too, and in any tenant, also a suspended one
	without     []string     // request headers that make no sense here: one that carries a condition is refused
}

// streamer executes a request while its body arrives.
type streamer func(ctx context.Context, c requestConditions, body io.Reader) (reply, error)

// Aggregate is an aggregate type with its operations.
type Aggregate struct {
	name       string // of all aggregates of the type, in paths: "threads"
	about      string // what the operations are, in the OpenAPI document
	operations []operation
	readings   []readOperation
}

// operations returns the table of all operations. One with a body that can't be served is a mistake in this program.
func operations(aggregates []Aggregate) (all []operation) {
	for _, aggregate := range aggregates {
		for _, op := range aggregate.operations {
			if op.perform.unservable != nil {
				panic(fmt.Sprintf("rest: %s: %v", op.path, op.perform.unservable))
			}
		}
		all = append(all, aggregate.operations...)
	}
	return all
}

// needs returns the scopes of which a token needs one.
func (o operation) needs() []access.Scope {
	needed := []access.Scope{cmp.Or(o.scope, access.Write)}
	if o.operators {
		needed = append(needed, access.Operate)
	}
	return needed
}

func (o operation) successStatus() int {
	if o.status == 0 {
		return http.StatusOK
	}
	return o.status
}
