package rest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"

	"example.com/threads/domain/ident"
	"example.com/threads/interfaceadaptor/admission"
)

// The words in which an aggregate's operations are declared, here and by those who add an aggregate.

// Aggregate is an aggregate type with what clients can ask of it.
type Aggregate struct {
	Name       string // of all aggregates of the type, in paths: "threads"
	About      string // what the operations are, in the OpenAPI document
	Operations []Operation
	Readings   []Reading
}

// Operation is a POST that changes something. [api.serve] serves all of them and [document] describes them.
type Operation struct {
	Path        string
	Summary     string
	Description string
	Status      int             // of success; 0: 200
	Do          Action          // what it does: [Command], [Resulting] or [Answering]
	Stream      Streamer        // executes in place of Do, for a body of lines
	Rejections  []error         // those of the domain that can come back
	Right       admission.Right // that it needs; empty: admission.Write
	Global      bool            // it works in the tenant with the empty code, whichever the caller's is
	Operators   bool            // operators may do it, too, and in any tenant, also one that is not admitted
	Without     []string        // request headers that make no sense here: one that carries a condition is refused
}

// Streamer executes a request while its body arrives.
type Streamer func(ctx context.Context, c Conditions, body io.Reader) (Reply, error)

// Reading is a GET on something that somebody owns.
type Reading struct {
	Path, Summary, Description string // the path may have names in braces, as in /tasks/{task_id}
	Media                      string
	Answer                     reflect.Type // of JSON; nil for other media
	Rejections                 []error
	// Serve answers a request of asker's, or returns why not.
	Serve func(w http.ResponseWriter, r *http.Request, c Conditions, asker ident.UserID) error
}

// operations returns the table of all operations. One with a body that can't be served is a mistake in this program.
func operations(aggregates []Aggregate) (all []Operation) {
	for _, aggregate := range aggregates {
		for _, op := range aggregate.Operations {
			if op.Do.unservable != nil {
				panic(fmt.Sprintf("rest: %s: %v", op.Path, op.Do.unservable))
			}
		}
		all = append(all, aggregate.Operations...)
	}
	return all
}

// needs returns the rights of which the caller needs one.
func (o Operation) needs() []admission.Right {
	needed := []admission.Right{cmp.Or(o.Right, admission.Write)}
	if o.Operators {
		needed = append(needed, admission.Operate)
	}
	return needed
}

// later reports whether the operation can become a task: it is a command, and needs the rights of those who write, no
// more.
func (o Operation) later() bool { return o.Do.isCommand && o.Right == "" && !o.Operators }

func (o Operation) successStatus() int { return cmp.Or(o.Status, http.StatusOK) }
