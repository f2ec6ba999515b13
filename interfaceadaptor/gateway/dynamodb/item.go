package dynamodb

import (
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// item is an item, or a part of one, by attribute.
type item map[string]types.AttributeValue

func text(value string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: value} }
func binary(value []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: value} }

func number[N uint64 | int64 | int](value N) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: fmt.Sprint(value)}
}

// text is the attribute's text; empty when it is missing.
func (i item) text(attribute string) string {
	if value, ok := i[attribute].(*types.AttributeValueMemberS); ok {
		return value.Value
	}
	return ""
}

// bytes is the attribute's text or bytes; nil when it is missing.
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

// number is the attribute's number; 0 when it is missing. What is no whole number is an error that names the item.
func (i item) number(attribute string) (uint64, error) {
	return parse(i, attribute, strconv.ParseUint)
}

// milliseconds is a time since 1970, or before: writers whose clocks were wrong have written such, too.
func (i item) milliseconds(attribute string) (int64, error) {
	return parse(i, attribute, strconv.ParseInt)
}

func parse[N int64 | uint64](i item, attribute string, read func(text string, base, bits int) (N, error)) (N, error) {
	if i[attribute] == nil {
		return 0, nil
	}
	value, ok := i[attribute].(*types.AttributeValueMemberN)
	if !ok {
		return 0, fmt.Errorf("item %s: %s is no number", i.text("skey"), attribute)
	}
	parsed, err := read(value.Value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("item %s: %s: %w", i.text("skey"), attribute, err)
	}
	return parsed, nil
}

// size is about what DynamoDB counts: names and values.
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
