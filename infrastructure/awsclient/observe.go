package awsclient

import (
	"context"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

const tracerName = "example.com/threads/infrastructure/awsclient"

// traceCalls adds a span to every call below a recorded span.
func traceCalls(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("trace", func(
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
		out, metadata, err = next.HandleInitialize(ctx, in)
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		return out, metadata, err
	}), middleware.After)
}

// Consumed is the capacity that a call consumed of a table, or of one of its indexes.
type Consumed struct {
	Table, Index, Operation string  // Index is empty for the table itself
	Units                   float64 // read or write units, as fits the operation
}

// CountCapacity returns an option for clients of DynamoDB that requests the consumed capacity with every call and
// passes it to count, which is called concurrently. Failed calls are not counted, because errors do not contain the
// capacity. Canceled transactions consume capacity, too. DynamoDB Local takes about a quarter longer for a transaction
// whose capacity is requested.
func CountCapacity(count func(Consumed)) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("consumed capacity", func(
				ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
			) (middleware.InitializeOutput, middleware.Metadata, error) {
				in.Parameters = asking(in.Parameters)
				out, metadata, err := next.HandleInitialize(ctx, in)
				if err == nil {
					operation := middleware.GetOperationName(ctx)
					for _, consumed := range capacityOf(out.Result) {
						tell(count, operation, consumed)
					}
				}
				return out, metadata, err
			}), middleware.After)
		})
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

// tell counts the capacity of the table itself and of each index.
func tell(count func(Consumed), operation string, consumed types.ConsumedCapacity) {
	part := Consumed{Operation: operation}
	if consumed.TableName != nil {
		part.Table = *consumed.TableName
	}
	if consumed.Table != nil {
		part.Units = unitsOf(*consumed.Table)
	} else if consumed.CapacityUnits != nil {
		part.Units = *consumed.CapacityUnits
	}
	count(part)
	for _, indexes := range []map[string]types.Capacity{consumed.GlobalSecondaryIndexes, consumed.LocalSecondaryIndexes} {
		for name, capacity := range indexes {
			part.Index, part.Units = name, unitsOf(capacity)
			count(part)
		}
	}
}

func unitsOf(capacity types.Capacity) float64 {
	if capacity.CapacityUnits == nil {
		return 0
	}
	return *capacity.CapacityUnits
}
