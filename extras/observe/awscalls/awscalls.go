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

// Observe returns an option for all clients of DynamoDB of a program: calls are traced, and counted in the registry.
func Observe(registry prometheus.Registerer) func(*dynamodb.Options) {
	units := promauto.With(registry).NewCounterVec(prometheus.CounterOpts{
		Name: "dynamodb_consumed_capacity_units_total",
		Help: "Read and write units that answered calls took, by table, index (empty: the table itself) and operation.",
	}, []string{"table", "index", "operation"})
	return CountCapacity(func(table, index, operation string, consumed float64) {
		units.WithLabelValues(table, index, operation).Add(consumed)
	})
}

// CountCapacity returns an option for clients of DynamoDB that traces every call, requests the consumed capacity with
// it and passes that to count, which is called concurrently: read or write units, as fits the operation, of a table or
// of an index. Failed calls are not counted, because errors do not contain the capacity. Canceled transactions consume
// capacity, too. DynamoDB Local takes about a quarter longer for a transaction whose capacity is requested.
func CountCapacity(count func(table, index, operation string, units float64)) func(*dynamodb.Options) {
	observe := middleware.InitializeMiddlewareFunc("observe", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
		operation := middleware.GetOperationName(ctx)
		if parent := trace.SpanFromContext(ctx); parent.IsRecording() {
			var span trace.Span
			tracer := parent.TracerProvider().Tracer("example.com/threads/extras/observe/awscalls")
			ctx, span = tracer.Start(ctx, "DynamoDB "+operation, trace.WithSpanKind(trace.SpanKindClient),
				trace.WithAttributes(attribute.String("db.system.name", "aws.dynamodb"), attribute.String("db.operation.name", operation)))
			defer func() {
				if err != nil {
					span.SetStatus(codes.Error, err.Error())
				}
				span.End()
			}()
		}
		in.Parameters = asking(in.Parameters)
		if out, metadata, err = next.HandleInitialize(ctx, in); err != nil {
			return out, metadata, err
		}
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
	})
	return func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error { return stack.Initialize.Add(observe, middleware.After) })
	}
}

// asking returns a copy of a call's input that requests the capacity. All calls that consume capacity can do so.
func asking(input any) any {
	given := reflect.ValueOf(input).Elem()
	asks := reflect.New(given.Type())
	asks.Elem().Set(given)
	if field := asks.Elem().FieldByName("ReturnConsumedCapacity"); field.IsValid() {
		field.Set(reflect.ValueOf(types.ReturnConsumedCapacityIndexes))
	}
	return asks.Interface()
}

// capacityOf returns the consumed capacity in an answer.
func capacityOf(answer any) []types.ConsumedCapacity {
	field := reflect.ValueOf(answer).Elem().FieldByName("ConsumedCapacity")
	if !field.IsValid() {
		return nil
	}
	all, _ := field.Interface().([]types.ConsumedCapacity)
	if one, _ := field.Interface().(*types.ConsumedCapacity); one != nil {
		all = append(all, *one)
	}
	return all
}
