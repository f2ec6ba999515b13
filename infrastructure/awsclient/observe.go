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

// traceCalls gives every call below a recorded span a span.
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

// Consumed is what a call took from a table, or from one of its indexes.
type Consumed struct {
	Table, Index, Operation string  // Index is empty for the table itself
	Units                   float64 // read or write units, as the operation has it
}

// CountCapacity returns an option for clients of DynamoDB that asks for the consumed capacity with every call and
// passes it to count, which is called concurrently. DynamoDB tells it with answers, and not with errors: a transaction
// that was cancelled has taken capacity, too.
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

// asking returns a copy of a call's input that asks for the capacity; input itself where the call knows none.
func asking(input any) any {
	const field = "ReturnConsumedCapacity" // of every call that takes capacity
	asked := reflect.ValueOf(input).Elem()
	if !asked.FieldByName(field).IsValid() {
		return input
	}
	asks := reflect.New(asked.Type())
	asks.Elem().Set(asked)
	asks.Elem().FieldByName(field).Set(reflect.ValueOf(types.ReturnConsumedCapacityIndexes))
	return asks.Interface()
}

// capacityOf returns what an answer says of capacity.
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

// tell passes on the parts of what a call took: the table itself, and each index.
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
