package graphql

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

func engineWithoutData(log *slog.Logger) engine {
	next := func(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler { return next(ctx) }
	text, err := os.ReadFile("schema.graphqls")
	if err != nil {
		panic(err)
	}
	schema := gqlparser.MustLoadSchema(&ast.Source{Name: "schema.graphqls", Input: string(text)})
	return newEngine(Executable{ExecutableSchema: schemaAlone{schema: schema}}, log, 20_000, next)
}

// schemaAlone checks operations and executes none.
type schemaAlone struct {
	graphql.ExecutableSchema
	schema *ast.Schema
}

func (s schemaAlone) Schema() *ast.Schema { return s.schema }

// begun returns the code of the refusal of a document; empty: it may run.
func begun(ctx context.Context, e engine, document string) (code string, errs int) {
	_, refused := e.begin(ctx, &graphql.RawParams{Query: document})
	if refused == nil {
		return "", 0
	}
	return fmt.Sprint(refused.Errors[0].Extensions["code"]), len(refused.Errors)
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
	e := engineWithoutData(slog.New(slog.DiscardHandler))
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
	e := engineWithoutData(slog.New(slog.DiscardHandler))
	for n, want := range map[int]int{1: 1, 9: 9, 10: 10, 11: 10, 200: 10} {
		code, errs := begun(t.Context(), e, shapes["unknown fields"].of(n))
		if code != codeBadInput || errs != want {
			t.Errorf("of %d errors %d are told, as %s", n, errs, code)
		}
	}
}

func TestADocumentOfAClientThatHasLeftIsNotValidated(t *testing.T) {
	e := engineWithoutData(slog.New(slog.DiscardHandler))
	left, leave := context.WithCancel(t.Context())
	leave()
	if code, _ := begun(left, e, `{ nothing }`); code != codeUnavailable {
		t.Errorf("got %q", code)
	}
}

func TestTheCostOfEveryShapeIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it waits for seconds")
	}
	e := engineWithoutData(slog.New(slog.DiscardHandler))
	for name, s := range shapes {
		for n := 10; n < 3000; n += n / 2 {
			document := s.of(n)
			if spent := cost(t, e, document); spent > mostCost(document) {
				t.Errorf("%s: %d bytes took %s", name, len(document), spent)
			}
		}
	}
}

// mostCost is 20 µs for each byte. Each document costs a little more.
func mostCost(document string) time.Duration {
	return slower * (2*time.Millisecond + time.Duration(len(document))*20*time.Microsecond)
}

// cost measures how long it takes to refuse a document or to let it run: the shortest of several times, because other
// programs use the processor, too.
func cost(t *testing.T, e engine, document string) time.Duration {
	shortest := time.Hour
	for i := range 20 {
		uncached := document + strings.Repeat(" ", i)
		started := time.Now()
		begun(t.Context(), e, uncached)
		shortest = min(shortest, time.Since(started))
		if shortest <= mostCost(document) {
			break
		}
	}
	return shortest
}

// FuzzDocumentCost searches for documents whose cost is not linear in their size.
func FuzzDocumentCost(f *testing.F) {
	for _, s := range shapes {
		f.Add(s.head, s.first, s.middle, s.second, s.tail, uint16(400))
	}
	e := engineWithoutData(slog.New(slog.DiscardHandler))
	f.Fuzz(func(t *testing.T, head, first, middle, second, tail string, n uint16) {
		if len(first)+len(second) == 0 {
			return
		}
		document := shape{head, first, middle, second, tail}.of(min(int(n), 4*maxBody/(4+len(first)+len(second))))
		if len(document) > maxBody {
			return
		}
		if spent := cost(t, e, document); spent > mostCost(document) {
			t.Errorf("%d bytes took %s", len(document), spent)
		}
	})
}
