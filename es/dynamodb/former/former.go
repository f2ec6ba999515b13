// Package former reads items as the founding documents print them, and returns them in today's form. So the rest of the
// gateway knows one form. Items of today are returned as they are.
//
// Different from today's items (package dynamodb):
//
//	ser_nr       N or S  instead of seq_nr, so that the indexes do not have the item. In a head: the number of the event
//	                     after which the state in its payload is
//	version      N or S  of a head: the lock. The last event has the larger of ser_nr and version
//	occurred_at  S       RFC 3339
//
// A kept snapshot has its number in ser_nr, and version and ttl.
package former

import (
	"maps"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Number is the attribute of the number, which has to be read with every item.
const Number = "ser_nr"

// Heads is a scan's condition for heads of both forms; :head is 0. Kept snapshots meet it, too: their skey is not a
// head's.
const Heads = "(seq_nr = :head OR attribute_not_exists(seq_nr) AND attribute_exists(" + Number + "))"

// Is reports whether the item has the documents' form.
func Is(found map[string]types.AttributeValue) bool {
	return found["seq_nr"] == nil && found[Number] != nil
}

// Item returns an event or a kept snapshot.
func Item(found map[string]types.AttributeValue) map[string]types.AttributeValue {
	if !Is(found) {
		return found
	}
	read := maps.Clone(found)
	read["seq_nr"] = asNumber(found[Number])
	if written, isText := found["occurred_at"].(*types.AttributeValueMemberS); isText {
		if at, err := time.Parse(time.RFC3339Nano, written.Value); err == nil {
			read["occurred_at"] = &types.AttributeValueMemberN{Value: strconv.FormatInt(at.UnixMilli(), 10)}
		}
	}
	return read
}

// Head returns a head.
func Head(found map[string]types.AttributeValue) map[string]types.AttributeValue {
	if !Is(found) {
		return found
	}
	read := maps.Clone(found)
	read["seq_nr"] = &types.AttributeValueMemberN{Value: "0"}
	number, numbered := value(found[Number])
	version, locked := value(found["version"])
	if numbered && (locked || found["version"] == nil) {
		read["version"] = &types.AttributeValueMemberN{Value: strconv.FormatUint(max(number, version), 10)}
	}
	return read
}

// State returns the number of the event after which the state in a head is: 1 in a head of today.
func State(head map[string]types.AttributeValue) uint64 {
	if number, numbered := value(head[Number]); numbered {
		return number
	}
	return 1
}

// asNumber returns a whole number that is stored as text as a number; other values unchanged.
func asNumber(stored types.AttributeValue) types.AttributeValue {
	if number, numbered := value(stored); numbered {
		return &types.AttributeValueMemberN{Value: strconv.FormatUint(number, 10)}
	}
	return stored
}

func value(stored types.AttributeValue) (number uint64, numbered bool) {
	var text string
	switch stored := stored.(type) {
	case *types.AttributeValueMemberN:
		text = stored.Value
	case *types.AttributeValueMemberS:
		text = stored.Value
	}
	number, err := strconv.ParseUint(text, 10, 64)
	return number, err == nil
}
