// extra:chat

package documents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	gqlgen "github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"

	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/interfaceadaptor/graphql/generated"
)

const (
	codeBadInput = "BAD_USER_INPUT"
	maxBody      = 64 << 10 // bytes of a request
)

// limited is an executor with limits. It checks operations and executes none.
type limited struct{ *executor.Executor }

func withLimit(complexity int) limited {
	e := executor.New(schemaAlone{schema: generated.Schema()})
	Limits{Complexity: complexity, InFlight: complexity}.Apply(e)
	return limited{e}
}

type schemaAlone struct {
	gqlgen.ExecutableSchema
	schema *ast.Schema
}

func (s schemaAlone) Schema() *ast.Schema { return s.schema }

// begun returns the code of the refusal of a document; empty: it may run.
func begun(ctx context.Context, e limited, document string) (code string, errs int) {
	return begin(ctx, e, &gqlgen.RawParams{Query: document})
}

func begin(ctx context.Context, e limited, params *gqlgen.RawParams) (code string, errs int) {
	ctx = gqlgen.StartOperationTrace(ctx)
	_, refused := e.CreateOperationContext(ctx, params)
	if len(refused) == 0 {
		return "", 0
	}
	told := len(e.DispatchError(ctx, refused).Errors)
	if refusal := (*graphql.Refusal)(nil); errors.As(refused[0], &refusal) {
		return refusal.Code, told
	}
	return codeBadInput, told
}

// introspection is what GraphiQL asks when it opens.
const introspection = `query IntrospectionQuery { __schema { description queryType { name kind } mutationType { name kind } subscriptionType { name kind }
	types { ...FullType } directives { name description isRepeatable locations args(includeDeprecated: true) { ...InputValue } } } }
fragment FullType on __Type { kind name description specifiedByURL isOneOf
	fields(includeDeprecated: true) { name description args(includeDeprecated: true) { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason }
	inputFields(includeDeprecated: true) { ...InputValue } interfaces { ...TypeRef }
	enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } possibleTypes { ...TypeRef } }
fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue isDeprecated deprecationReason }
fragment TypeRef on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name
	ofType { kind name ofType { kind name ofType { kind name } } } } } } } } } }`

func TestWhatClientsSendMayRun(t *testing.T) {
	e := withLimit(20_000)
	const all = `fragment all on Thread { id name code version createdAt updatedAt createdBy updatedBy
		members(first: 1) { edges { node { id userAccountId role createdAt updatedAt } } pageInfo { hasNextPage endCursor } }
		messages(last: 1) { edges { node { id userAccountId text createdAt updatedAt } } pageInfo { hasPreviousPage startCursor } } }`
	batch, fragments, used := "", "", ""
	for i := range maxRootFields {
		batch += fmt.Sprintf(` t%d: %s { ...all }`, i, oneThread)
	}
	for i := range 20 { // as Relay does it: a fragment for each part of a page
		used += fmt.Sprintf(" ...f%d", i)
		fragments += fmt.Sprintf(` fragment f%d on Thread { id name members(first: 1) { edges { node { id role ...m%d } } } __typename } fragment m%d on Member { id userAccountId __typename }`, i, i, i)
	}
	for name, document := range map[string]string{
		"introspection": introspection,
		"batch":         `{` + batch + `}` + all,
		"fragments":     `{` + oneThread + `{` + used + `}}` + fragments,
	} {
		if code, _ := begun(t.Context(), e, document); code != "" {
			t.Errorf("%s: %s", name, code)
		}
	}
}

func TestOnlyTheFirstErrorsOfADocumentAreTold(t *testing.T) {
	e := withLimit(20_000)
	for n, want := range map[int]int{1: 1, 9: 9, 10: 10, 11: 10, 200: 10} {
		code, errs := begun(t.Context(), e, shapes["unknown fields"].of(n))
		if code != codeBadInput || errs != want {
			t.Errorf("of %d errors %d are told, as %s", n, errs, code)
		}
	}
}

func TestTheCostOfEveryShapeIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	e := withLimit(20_000)
	for name, s := range shapes {
		for n := 10; n < 3000; n += n / 2 {
			document := s.of(n)
			if spent := cost(e, document); spent > mostCost(document) {
				t.Errorf("%s: %d bytes cost %.0f %% of what they may", name, len(document), 100*spent/mostCost(document))
			}
		}
	}
}

// mostCost is how long it may take to check a document, in documents of introspection: 100, for which [maxWork] stands,
// and 1 more for each 200 bytes.
func mostCost(document string) float64 { return 100 + float64(len(document))/200 }

var measured atomic.Int64 // documents. No two are the same, so no answer comes from a cache.

// used returns the time that processors have worked for this program: other programs use them, too.
func used() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// cost measures how long it takes to refuse a document or to let it run, in documents of introspection: each time is
// the shortest of several, and both are taken in turn.
func cost(e limited, document string) float64 {
	once := func(document string) time.Duration {
		uncached := document + fmt.Sprintf("#%d", measured.Add(1))
		before := used()
		begun(context.Background(), e, uncached)
		return used() - before
	}
	spent, unit := time.Hour, time.Hour
	for range 20 {
		for range 3 {
			unit = min(unit, once(introspection))
		}
		spent = min(spent, once(document))
		if spent.Seconds() <= mostCost(document)*unit.Seconds() {
			break
		}
	}
	return spent.Seconds() / unit.Seconds()
}

// FuzzDocumentCost searches for documents whose cost is not linear in their size.
func FuzzDocumentCost(f *testing.F) {
	for _, s := range shapes {
		f.Add(s.head, s.first, s.middle, s.second, s.tail, uint16(400))
	}
	e := withLimit(20_000)
	f.Fuzz(func(t *testing.T, head, first, middle, second, tail string, n uint16) {
		if len(first)+len(second) == 0 {
			return
		}
		document := shape{head, first, middle, second, tail}.of(min(int(n), 4*maxBody/(4+len(first)+len(second))))
		if len(document) > maxBody {
			return
		}
		if spent := cost(e, document); spent > mostCost(document) {
			t.Errorf("%d bytes cost %.0f %% of what they may", len(document), 100*spent/mostCost(document))
		}
	})
}

// fuzzedDocument has a variable and a fragment.
const fuzzedDocument = `query Q($n: Int = 3) { threads(userAccountId: "01ARZ3NDEKTSV4RRFFQ69G5FAV", first: $n) { edges { node { ...T } } } }
fragment T on Thread { id members(first: 2) { edges { node { role } } } }`

// Any document must be refused or measured without a panic.
func FuzzDocument(f *testing.F) {
	f.Add(fuzzedDocument, `{"n": 500}`)
	f.Add(`subscription { threadChanged(threadId: "x", userAccountId: "y") { id } }`, `{}`)
	f.Add(`{ ...A } fragment A on Query { ...A }`, `null`)
	e := withLimit(20_000)
	f.Fuzz(func(t *testing.T, document, variables string) {
		var values map[string]any
		if json.Unmarshal([]byte(variables), &values) == nil {
			begin(t.Context(), e, &gqlgen.RawParams{Query: document, Variables: values})
		}
	})
}
