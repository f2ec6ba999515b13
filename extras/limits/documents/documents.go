// Package documents limits GraphQL operations: what a document costs to check (work.go), what an operation costs to
// execute, and how many are executed at once. [Limits.Apply] is a hook of interfaceadaptor/graphql.
package documents

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	gqlgen "github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator/rules"
	"golang.org/x/sync/semaphore"

	"example.com/threads/infrastructure/config"
	"example.com/threads/interfaceadaptor/graphql"
	"example.com/threads/usecase/query"
)

const (
	maxTokens     = 5000 // GraphQL tokens of a document
	maxErrors     = 10   // of a document that are reported
	maxRootFields = 100  // of an operation; each needs a statement of its own

	unpaged = "StateMember" // elements of a list without pages, which counts as a page of maximum size
	state   = "ThreadState" // made from the journal: in memory it is as large as an answer of ofState fields
	ofState = 4000
	ofTypes = 5       // the size of a list that tells of the schema: clients ask for four, one in the other
	enough  = 1 << 30 // above every limit; sums are capped there to avoid overflow

	complexityStat = "complexity"
)

// Limits are set by operators.
type Limits struct {
	Complexity int // maximum of an operation
	InFlight   int // total complexity of the answers that are resolved at once; further ones wait
}

func ReadSettings(r *config.Reader) Limits {
	r = r.Group("Limits of queries (extras/limits)")
	return Limits{
		Complexity: r.Int("QUERY_COMPLEXITY_LIMIT", 20_000, 1, 10_000_000, "the most fields times page sizes of an operation"),
		InFlight:   r.Int("COMPLEXITY_IN_FLIGHT", 20_000, 1, 100_000_000, "the complexity of all operations in progress; further ones wait"),
	}
}

// Apply adds the limits to an executor.
func (l Limits) Apply(e *executor.Executor) {
	checked := graphql.NewDocuments()
	e.SetQueryCache(checked)
	// The search for similar names may cost more than all the rules.
	e.SetDisableSuggestion(true)
	e.SetDefaultRulesFn(func() *rules.Rules {
		chosen := rules.NewDefaultRules()
		chosen.ReplaceRule(rules.KnownArgumentNamesRule.Name, rules.KnownArgumentNamesRuleWithoutSuggestions.RuleFunc)
		chosen.ReplaceRule(rules.KnownTypeNamesRule.Name, rules.KnownTypeNamesRuleWithoutSuggestions.RuleFunc)
		chosen.ReplaceRule(rules.ValuesOfCorrectTypeRule.Name, rules.ValuesOfCorrectTypeRuleWithoutSuggestions.RuleFunc)
		return chosen
	})
	e.Use(operations{l, semaphore.NewWeighted(int64(l.InFlight)), checked})
}

type operations struct {
	limits Limits
	// inFlight: an answer needs several times its size in memory until it is encoded. Answers beyond the limit wait
	// in order of arrival. Sending is not part of it, so slow clients do not delay others.
	inFlight *semaphore.Weighted
	checked  gqlgen.Cache[*ast.QueryDocument] // the valid documents
}

var (
	_ gqlgen.OperationParameterMutator = operations{}
	_ gqlgen.OperationContextMutator   = operations{}
	_ gqlgen.ResponseInterceptor       = operations{}
	_ gqlgen.FieldInterceptor          = operations{}
)

func (operations) ExtensionName() string { return "limits" }

func (operations) Validate(gqlgen.ExecutableSchema) error { return nil }

// MutateOperationParameters refuses a document that would cost too much to validate, in time linear in its length.
func (o operations) MutateOperationParameters(ctx context.Context, params *gqlgen.RawParams) *gqlerror.Error {
	if _, known := o.checked.Get(ctx, params.Query); known {
		return nil
	}
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: params.Query}, maxTokens)
	if err == nil {
		err = limitWork(document)
	}
	return gqlerror.WrapIfUnwrapped(err)
}

// MutateOperationContext refuses an operation that would cost too much to execute.
func (o operations) MutateOperationContext(_ context.Context, operation *gqlgen.OperationContext) *gqlerror.Error {
	complexity, err := complexityOf(operation, o.limits.Complexity)
	operation.Stats.SetExtension(complexityStat, complexity)
	return gqlerror.WrapIfUnwrapped(err)
}

// InterceptResponse executes a query when there is room for it. The answers of a subscription wait for changes first:
// they take their room in [operations.InterceptField].
func (o operations) InterceptResponse(ctx context.Context, next gqlgen.ResponseHandler) *gqlgen.Response {
	if !gqlgen.HasOperationContext(ctx) {
		refused := next(ctx)
		refused.Errors = refused.Errors[:min(len(refused.Errors), maxErrors)]
		return refused
	}
	operation := gqlgen.GetOperationContext(ctx)
	complexity, _ := operation.Stats.GetExtension(complexityStat).(int)
	weight := int64(min(max(complexity, 1), o.limits.InFlight))
	taken := false
	take := sync.OnceValue(func() error {
		err := o.inFlight.Acquire(ctx, weight)
		taken = err == nil
		return err
	})
	defer func() {
		if taken {
			o.inFlight.Release(weight)
		}
	}()
	if operation.Operation.Operation == ast.Subscription {
		return next(context.WithValue(ctx, roomKey{}, take))
	}
	if take() != nil {
		gqlgen.AddError(ctx, errNoRoom)
		return &gqlgen.Response{Errors: gqlgen.GetErrors(ctx)}
	}
	return next(ctx)
}

type roomKey struct{}

var errNoRoom = &graphql.Refusal{Code: graphql.CodeUnavailable, Message: "too many operations are in progress; try again"}

// InterceptField takes the room of a change with its first field: one without such fields is small.
func (o operations) InterceptField(ctx context.Context, next gqlgen.Resolver) (any, error) {
	if take, waits := ctx.Value(roomKey{}).(func() error); waits && take() != nil {
		return nil, errNoRoom
	}
	return next(ctx)
}

// complexityOf counts an operation's fields, inside a list as often as its page has rows. It refuses too many.
func complexityOf(operation *gqlgen.OperationContext, most int) (int, error) {
	m := meter{variables: operation.Variables, fragments: map[fragmentUse]int{}}
	cost := m.selections(operation.Operation.SelectionSet, 1)
	fields := len(gqlgen.CollectFields(operation, operation.Operation.SelectionSet, []string{"Query", "Subscription"}))
	const refusal = "the operation's %s is %d, and at most %d is accepted; select fewer fields, or smaller pages"
	switch {
	case cost > most:
		return cost, tooComplex(refusal, "complexity", cost, most)
	case fields > maxRootFields:
		return cost, tooComplex(refusal, "number of top-level fields", fields, maxRootFields)
	}
	return cost, nil
}

func tooComplex(format string, args ...any) error {
	return &graphql.Refusal{Code: graphql.CodeTooComplex, Message: fmt.Sprintf(format, args...)}
}

// meter measures selections, each fragment once: nested ones could cost the server exponentially more than the client.
type meter struct {
	variables map[string]any
	fragments map[fragmentUse]int
}

type fragmentUse struct {
	name string
	page int
}

// selections measures a selection inside a field that returns a page of the given length.
func (m *meter) selections(set ast.SelectionSet, page int) (cost int) {
	for _, selection := range set {
		var part int
		switch selection := selection.(type) {
		case *ast.Field:
			part = m.field(selection, page)
		case *ast.InlineFragment:
			part = m.selections(selection.SelectionSet, page)
		case *ast.FragmentSpread:
			use, known := fragmentUse{selection.Name, page}, false
			if part, known = m.fragments[use]; !known {
				part = m.selections(selection.Definition.SelectionSet, page)
				m.fragments[use] = part
			}
		}
		cost = min(cost+part, enough)
	}
	return cost
}

// field measures a field inside a page. The page size of a connection multiplies its edges, which are the list's rows.
func (m *meter) field(field *ast.Field, page int) int {
	if asked, paged := m.pageSize(field); paged {
		page = asked
	} else if field.Definition.Type.Name() == unpaged {
		page = query.MaxPage
	} else if strings.HasPrefix(field.ObjectDefinition.Name, "__") {
		page = ofTypes
	} else if field.Name != "edges" {
		page = 1
	}
	times, inside := 1, page
	if isList := field.Definition.Type.Elem != nil; isList {
		times, inside = page, 1
	}
	own := 1
	if field.Definition.Type.Name() == state {
		own += ofState
	}
	return min(own+times*m.selections(field.SelectionSet, inside), enough)
}

func (m *meter) pageSize(field *ast.Field) (size int, paged bool) {
	first := field.Definition.Arguments.ForName("first")
	if first == nil {
		return 0, false
	}
	var usual any = graphql.DefaultPage
	if first.DefaultValue != nil {
		usual = first.DefaultValue.Raw
	}
	given := field.ArgumentMap(m.variables)
	n, err := gqlgen.UnmarshalInt(cmp.Or(given["last"], given["first"], usual))
	if err != nil {
		n = query.MaxPage // the resolver will refuse the value
	}
	return min(max(n, 1), query.MaxPage), true
}
