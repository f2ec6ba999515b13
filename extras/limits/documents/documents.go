// Package documents limits GraphQL operations: what a document costs to check (work.go), what an operation costs to
// execute (complexity.go), and how many are executed at once. [Limits.Apply] is a hook of interfaceadaptor/graphql.
package documents

import (
	"context"
	"strings"
	"sync"

	gqlgen "github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
	"golang.org/x/sync/semaphore"

	"example.com/threads/infrastructure/config"
	"example.com/threads/interfaceadaptor/graphql"
)

const (
	cachedDocuments = 500
	maxTokens       = 5000 // GraphQL tokens of a document
	maxErrors       = 10   // of a document that are reported
)

// Limits are set by operators.
type Limits struct {
	Complexity int // maximum of an operation
	InFlight   int // total complexity of the answers that are resolved at once; further ones wait
}

// ReadSettings reads them.
func ReadSettings(r *config.Reader) Limits {
	r = r.Group("Limits of queries (extras/limits)")
	return Limits{
		Complexity: r.Int("QUERY_COMPLEXITY_LIMIT", 20_000, 1, 10_000_000, "the most fields times page sizes of an operation"),
		InFlight:   r.Int("COMPLEXITY_IN_FLIGHT", 20_000, 1, 100_000_000, "the complexity of all operations in progress; further ones wait"),
	}
}

// Apply implements [graphql.Limiter]. load puts the valid document of a text into the cache, where the executor finds
// it, or returns why it is refused. The time it takes grows only with the length of the text, because no other limit
// applies to it.
func (l Limits) Apply(e *executor.Executor, schema *ast.Schema) (load func(context.Context, string) gqlerror.List) {
	valid := lru.New[*ast.QueryDocument](cachedDocuments)
	e.SetQueryCache(valid)
	e.Use(operations{l, semaphore.NewWeighted(int64(l.InFlight))})
	return func(ctx context.Context, text string) gqlerror.List {
		if _, cached := valid.Get(ctx, text); cached {
			return nil
		}
		document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, maxTokens)
		if err == nil {
			err = limitWork(document)
		}
		if err != nil {
			return gqlerror.List{gqlerror.WrapIfUnwrapped(err)}
		}
		if errs := validator.ValidateWithRules(schema, document, validation()); len(errs) > 0 {
			return errs
		}
		valid.Add(ctx, text, document)
		return nil
	}
}

// validation returns the rules of GraphQL, which together report maxErrors errors. They suggest no similar names,
// because the search for them may cost more than all the rules.
func validation() *rules.Rules {
	chosen := rules.NewDefaultRules()
	for _, rule := range []core.Rule{
		rules.FieldsOnCorrectTypeRuleWithoutSuggestions,
		rules.KnownArgumentNamesRuleWithoutSuggestions,
		rules.KnownTypeNamesRuleWithoutSuggestions,
		rules.ScalarLeafsRuleWithoutSuggestions,
		rules.ValuesOfCorrectTypeRuleWithoutSuggestions,
	} {
		chosen.ReplaceRule(strings.TrimSuffix(rule.Name, "WithoutSuggestions"), rule.RuleFunc)
	}
	reported, limited := 0, rules.NewRules()
	for name, rule := range chosen.GetInner() {
		limited.AddRule(name, func(observers *core.Events, report core.AddErrFunc) {
			rule(observers, func(options ...core.ErrorOption) {
				if reported++; reported <= maxErrors {
					report(options...)
				}
			})
		})
	}
	return limited
}

// operations is an extension of gqlgen's executor.
type operations struct {
	limits Limits
	// inFlight: an answer needs several times its size in memory until it is encoded. Answers beyond the limit wait
	// in order of arrival. Sending is not part of it, so slow clients do not delay others.
	inFlight *semaphore.Weighted
}

var (
	_ gqlgen.OperationContextMutator = operations{}
	_ gqlgen.ResponseInterceptor     = operations{}
	_ gqlgen.FieldInterceptor        = operations{}
)

// ExtensionName implements [gqlgen.HandlerExtension].
func (operations) ExtensionName() string { return "limits" }

// Validate implements [gqlgen.HandlerExtension].
func (operations) Validate(gqlgen.ExecutableSchema) error { return nil }

const complexityStat = "complexity"

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
		return next(ctx) // it was refused
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

// InterceptField takes the room of a change with its first field: a change without such fields is written at once, and
// is small.
func (o operations) InterceptField(ctx context.Context, next gqlgen.Resolver) (any, error) {
	if take, waits := ctx.Value(roomKey{}).(func() error); waits && take() != nil {
		return nil, errNoRoom
	}
	return next(ctx)
}
