// Package awscalls observes the calls to DynamoDB: their spans, and the capacity that they consume.
package awscalls

import (
	"context"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

const tracerName = "example.com/threads/extras/observe/awscalls"

// Observe returns an option for clients of DynamoDB whose calls are traced, and counted in the registry. Use it for all
// clients of a program.
func Observe(registry prometheus.Registerer) func(*dynamodb.Options) {
	units := promauto.With(registry).NewCounterVec(prometheus.CounterOpts{
		Name: "dynamodb_consumed_capacity_units_total",
		Help: "Read and write units that answered calls took, by table, index (empty: the table itself) and operation.",
	}, []string{"table", "index", "operation"})
	capacity := CountCapacity(func(table, index, operation string, consumed float64) {
		units.WithLabelValues(table, index, operation).Add(consumed)
	})
	return func(o *dynamodb.Options) {
		capacity(o)
		o.APIOptions = append(o.APIOptions, initialize("trace", traceCall))
	}
}

// around is what a middleware does with a call.
type around = func(context.Context, middleware.InitializeInput, middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error)

func initialize(name string, do around) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc(name, do), middleware.After)
	}
}

// traceCall adds a span to a call below a recorded span.
func traceCall(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return next.HandleInitialize(ctx, in)
	}
	operation := middleware.GetOperationName(ctx)
	ctx, span := parent.TracerProvider().Tracer(tracerName).Start(ctx, "DynamoDB "+operation, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("db.system.name", "aws.dynamodb"), attribute.String("db.operation.name", operation)))
	defer span.End()
	if out, metadata, err = next.HandleInitialize(ctx, in); err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	return out, metadata, err
}

// CountCapacity returns an option for clients of DynamoDB that requests the consumed capacity with every call and
// passes it to count, which is called concurrently: read or write units, as fits the operation, of a table or of an
// index. Failed calls are not counted, because errors do not contain the capacity. Canceled transactions consume
// capacity, too. DynamoDB Local takes about a quarter longer for a transaction whose capacity is requested.
func CountCapacity(count func(table, index, operation string, units float64)) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, initialize("consumed capacity", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			in.Parameters = asking(in.Parameters)
			out, metadata, err := next.HandleInitialize(ctx, in)
			if err != nil {
				return out, metadata, err
			}
			operation := middleware.GetOperationName(ctx)
			for _, consumed := range capacityOf(out.Result) {
				table, units := aws.ToString(consumed.TableName), consumed.CapacityUnits
				if consumed.Table != nil { // without the indexes
					units = consumed.Table.CapacityUnits
				}
				count(table, "", operation, aws.ToFloat64(units))
				for index, capacity := range consumed.GlobalSecondaryIndexes { // there are no local ones
					count(table, index, operation, aws.ToFloat64(capacity.CapacityUnits))
				}
			}
			return out, metadata, nil
		}))
	}
}

// asking returns a copy of a call's input that requests the capacity; input itself if the call has no such parameter.
func asking(input any) any {
	const field = "ReturnConsumedCapacity" // all calls that consume capacity have it
	asked := reflect.ValueOf(input).Elem()
	if !asked.FieldByName(field).IsValid() {
		return input
	}
	asks := reflect.New(asked.Type())
	asks.Elem().Set(asked)
	asks.Elem().FieldByName(field).Set(reflect.ValueOf(types.ReturnConsumedCapacityIndexes))
	return asks.Interface()
}

// capacityOf returns the consumed capacity in an answer.
func capacityOf(answer any) []types.ConsumedCapacity {
	field := reflect.ValueOf(answer).Elem().FieldByName("ConsumedCapacity")
	if !field.IsValid() {
		return nil
	}
	switch consumed := field.Interface().(type) {
	case []types.ConsumedCapacity:
		return consumed
	case *types.ConsumedCapacity:
		if consumed != nil {
			return []types.ConsumedCapacity{*consumed}
		}
	}
	return nil
}
