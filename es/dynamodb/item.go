package dynamodb

import (
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// item is an item, or part of one: values by attribute name.
type item map[string]types.AttributeValue

func text(value string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: value} }
func binary(value []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: value} }

func number[N uint64 | int64 | int](value N) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: fmt.Sprint(value)}
}

// text returns the attribute's text; empty if it is missing.
func (i item) text(attribute string) string {
	if value, ok := i[attribute].(*types.AttributeValueMemberS); ok {
		return value.Value
	}
	return ""
}

// bytes returns the attribute's text or bytes; nil if it is missing.
func (i item) bytes(attribute string) []byte {
	switch value := i[attribute].(type) {
	case *types.AttributeValueMemberS:
		return []byte(value.Value)
	case *types.AttributeValueMemberB:
		return value.Value
	default:
		return nil
	}
}

// number returns the attribute's number; 0 if it is missing. If it is not a whole number, the error names the item.
func (i item) number(attribute string) (uint64, error) {
	return parse(i, attribute, strconv.ParseUint)
}

// milliseconds returns a time in milliseconds since 1970; it may be negative, because writers with wrong clocks have
// written such times.
func (i item) milliseconds(attribute string) (int64, error) {
	return parse(i, attribute, strconv.ParseInt)
}

func parse[N int64 | uint64](i item, attribute string, read func(text string, base, bits int) (N, error)) (N, error) {
	if i[attribute] == nil {
		return 0, nil
	}
	value, ok := i[attribute].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("item %s: %s is not a whole number", i.text("skey"), attribute)
	}
	parsed, err := read(value.Value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("item %s: %s: %w", i.text("skey"), attribute, err)
	}
	return parsed, nil
}

// size estimates the bytes that DynamoDB counts: names and values.
func (i item) size() int {
	size := 0
	for name, value := range i {
		size += len(name)
		switch value := value.(type) {
		case *types.AttributeValueMemberS:
			size += len(value.Value)
		case *types.AttributeValueMemberB:
			size += len(value.Value)
		case *types.AttributeValueMemberN:
			size += len(value.Value)
		}
	}
	return size
}
