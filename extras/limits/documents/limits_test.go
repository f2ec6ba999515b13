// extra:chat

package documents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	gqlgen "github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
	"golang.org/x/sync/semaphore"

	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/tests/graphqltest"
	"example.com/threads/tests/readmodeltest"
)

// serve runs an endpoint with limits.
func serve(t *testing.T, limits Limits) *graphqltest.API {
	t.Helper()
	return graphqltest.Serve(t, readmodeltest.SQLite(t), graphqltest.Settings{Settings: graphql.Settings{Extend: []func(*executor.Executor){limits.Apply}}})
}

// ask returns the code of the answer's error; empty: there is none.
func ask(t *testing.T, e *graphqltest.API, document string, variables map[string]any) string {
	t.Helper()
	return e.Ask(t, graphqltest.Asked{Variables: variables}, document).Code()
}

func TestComplexityIsRefusedBeforeAnythingRuns(t *testing.T) {
	user := readmodeltest.NewUser().String()
	// Two fields in each of seven rows, and the list.
	exact := `{ getThreads(userAccountId: "` + user + `", first: 7) { id name } }`
	nested := `query($n: Int) { threads(userAccountId: "` + user + `", first: $n) { edges { node { messages(last: 10) { edges { node { id } } } } } pageInfo { endCursor } } }`
	// threads + edges*n*(edge + node + messages + edges + 10*(node + id)) + pageInfo + endCursor
	costOfNested := func(n int) int { return 1 + 1 + n*(1+1+1+10*2) + 2 }
	for name, test := range map[string]struct {
		document string
		n        any
		cost     int
	}{
		"list":            {exact, nil, 1 + 7*2},
		"page of 3":       {nested, 3, costOfNested(3)},
		"default page":    {nested, nil, costOfNested(50)},
		"largest page":    {nested, 500, costOfNested(500)},
		"page too large":  {nested, 1 << 30, costOfNested(500)},
		"last of a state": {`{ threadAt(threadId: "` + user + `", userAccountId: "` + user + `", version: 1) { messages(last: 500) { text } } }`, nil, 1 + 4000 + 1 + 500},
		"the schema":      {`{ __schema { types { name fields { name } } } }`, nil, 1 + 1 + 5*(1+1+5*1)},
		"fragments":       {`{ ...F ...F } fragment F on Query { getThreads(userAccountId: "` + user + `", first: 7) { id name } }`, nil, 2 * 15},
	} {
		for limit, refused := range map[int]bool{test.cost: false, test.cost - 1: true} {
			e := serve(t, Limits{Complexity: limit, InFlight: limit})
			variables := map[string]any{}
			if test.n != nil {
				variables["n"] = test.n
			}
			before := e.Statements()
			code := ask(t, e, test.document, variables)
			if (code == graphql.CodeTooComplex) != refused {
				t.Errorf("%s at a limit of %d: %q", name, limit, code)
			}
			if spent := e.Statements() - before; refused && spent != 0 {
				t.Errorf("%s: %d statements", name, spent)
			}
		}
	}
}

func TestDocumentsMadeToBeExpensive(t *testing.T) {
	e := serve(t, Limits{Complexity: 20_000, InFlight: 20_000})
	user := readmodeltest.NewUser().String()
	bomb := &strings.Builder{}
	bomb.WriteString(`{ ...F0 }`)
	for i := range 60 { // 2^60 fields
		fmt.Fprintf(bomb, ` fragment F%d on Query { ...F%d ...F%d }`, i, i+1, i+1)
	}
	bomb.WriteString(` fragment F60 on Query { __typename }`)
	many := &strings.Builder{}
	for i := range 101 {
		fmt.Fprintf(many, ` a%d: getThreads(userAccountId: "%s") { id }`, i, user)
	}
	started, before := time.Now(), e.Statements()
	for name, document := range map[string]string{"fragments": bomb.String(), "top-level fields": `{ ` + many.String() + ` }`, "depth": deep(30)} {
		if code := ask(t, e, document, nil); code != graphql.CodeTooComplex {
			t.Errorf("%s: %q", name, code)
		}
	}
	tokens := `{ ` + strings.Repeat(`__typename `, 5500) + `}`
	if code := ask(t, e, tokens, nil); code != codeBadInput {
		t.Errorf("too many tokens: %q", code)
	}
	if e.Statements() != before || time.Since(started) > 5*time.Second {
		t.Errorf("%d statements in %s", e.Statements()-before, time.Since(started))
	}
}

func deep(n int) string {
	return `{ __type(name: "x") { ` + strings.Repeat(`ofType { `, n-2) + `name` + strings.Repeat(` }`, n-2) + ` } }`
}

// TestTooManySelectionsAreRefused tries the largest accepted number of repetitions of a field, and one more.
func TestTooManySelectionsAreRefused(t *testing.T) {
	e := serve(t, Limits{Complexity: 20_000, InFlight: 20_000})
	repeated := func(n int) string { return `{ __type(name: "Query") {` + strings.Repeat(` name`, n) + ` } }` }
	const most = 311
	for n, want := range map[int]string{most: "", most + 1: graphql.CodeTooComplex} {
		if code := ask(t, e, repeated(n), nil); code != want {
			t.Errorf("%d: %q", n, code)
		}
	}
	for n, want := range map[int]string{20: "", 21: graphql.CodeTooComplex} {
		if code := ask(t, e, deep(n), nil); code != want {
			t.Errorf("depth %d: %q", n, code)
		}
	}
}

// TestAnswersWaitForRoom executes a query while another one has all of the complexity in flight.
func TestAnswersWaitForRoom(t *testing.T) {
	e := withLimit(20)
	ctx := gqlgen.StartOperationTrace(t.Context())
	operation, errs := e.CreateOperationContext(ctx, &gqlgen.RawParams{Query: `{ __type(name: "x") { name } }`})
	if errs != nil {
		t.Fatal(errs)
	}
	operation.Operation.Operation = ast.Query
	operation.Stats.SetExtension(complexityStat, 1000) // as much as there is
	limit := operations{limits: Limits{InFlight: 20}, inFlight: semaphore.NewWeighted(20)}
	ctx = gqlgen.WithOperationContext(ctx, operation)
	ctx = gqlgen.WithResponseContext(ctx, gqlgen.DefaultErrorPresenter, gqlgen.DefaultRecover)
	inside, leave, answered := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(answered)
		limit.InterceptResponse(ctx, func(context.Context) *gqlgen.Response {
			close(inside)
			<-leave
			return &gqlgen.Response{}
		})
	}()
	<-inside
	late, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	answer := limit.InterceptResponse(late, func(context.Context) *gqlgen.Response {
		t.Error("it was executed")
		return nil
	})
	if refusal := (*graphql.Refusal)(nil); !errors.As(answer.Errors, &refusal) || refusal.Code != graphql.CodeUnavailable {
		t.Errorf("got %v", answer.Errors)
	}
	close(leave)
	<-answered
	if answer := limit.InterceptResponse(ctx, func(context.Context) *gqlgen.Response { return &gqlgen.Response{} }); len(answer.Errors) != 0 {
		t.Errorf("then %v", answer.Errors)
	}

	// A subscription that waits for a change leaves the room to others. Its change needs room, and gives it back.
	operation.Operation.Operation = ast.Subscription
	limit.InterceptResponse(ctx, func(ctx context.Context) *gqlgen.Response {
		if !limit.inFlight.TryAcquire(20) {
			t.Error("a subscription without a change takes room")
		}
		field := func() error {
			soon, cancel := context.WithTimeout(ctx, 10*time.Second)
			defer cancel()
			_, err := limit.InterceptField(soon, func(context.Context) (any, error) { return nil, nil })
			return err
		}
		limit.inFlight.Release(20)
		for range 2 {
			if err := field(); err != nil {
				t.Error(err)
			}
		}
		if limit.inFlight.TryAcquire(1) {
			t.Error("a change takes no room")
		}
		return &gqlgen.Response{}
	})
	if !limit.inFlight.TryAcquire(20) {
		t.Error("the change keeps its room")
	}
}
