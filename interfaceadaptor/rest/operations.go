package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"reflect"

	"example.com/threads/interfaceadaptor/admission"
)

// The words in which an aggregate's operations are declared, here and by those who add an aggregate.

// Aggregate is an aggregate type with what clients can ask of it.
type Aggregate struct {
	Name       string // of all aggregates of the type, in paths: "threads"
	About      string // what the operations are, in the OpenAPI document
	Operations []Operation
	Exchanges  []Exchange
}

// Operation is a POST that changes something. [api.serve] serves all of them and [document] describes them.
type Operation struct {
	Path        string
	Summary     string
	Description string
	Status      int             // of success; 0: 200
	Do          Action          // what it does: [Command], [Resulting] or [Answering]
	Rejections  []error         // those of the domain that can come back
	Right       admission.Right // that it needs; empty: admission.Write
	Global      bool            // it works in the tenant with the empty code, whichever the caller's is
	Operators   bool            // operators may do it, too, and in any tenant, also one that is not admitted
	Without     []string        // request headers that make no sense here: one that carries a condition is refused
}

// Prepare decodes and checks a body, as the handler does.
func (o Operation) Prepare(c Conditions, body []byte) (Request, error) {
	if len(body) > MaxBody {
		return Request{}, requestTooLarge()
	}
	request, err := o.Do.prepare(c, body)
	request.Operation = o
	return request, err
}

// Exchange is a request that an aggregate serves itself: a GET on what somebody owns, or a body that is not one JSON
// object. A header says who asks.
type Exchange struct {
	Method                     string       // default: GET
	Path, Summary, Description string       // the path may have names in braces, as in /threads/{thread_id}
	Takes, Example             string       // the media type of the body, and an example of one; empty: there is none
	Gives                      string       // the media type of the answer
	Answer                     reflect.Type // of JSON; nil for other media
	Status                     int          // of success; 0: 200
	Rejections                 []error
	Serve                      Server
}

// Server answers a request whose caller has an executor, or returns why not. Where a body or an answer is streamed, it
// limits the time itself.
type Server func(w http.ResponseWriter, r *http.Request, c Conditions) error

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

// IsOrdinary reports whether the operation is a command that needs the rights of those who write, no more.
func (o Operation) IsOrdinary() bool { return o.Do.isCommand && o.Right == "" && !o.Operators }

func (o Operation) successStatus() int { return cmp.Or(o.Status, http.StatusOK) }
