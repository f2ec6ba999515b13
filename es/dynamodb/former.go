package dynamodb

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// This file reads items as the founding documents print them, and returns them in today's form. So the rest of the
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

// formerNumber is the attribute of the number, which has to be read with every item.
const formerNumber = "ser_nr"

// formerHeads is a scan's condition for heads of both forms, and kept snapshots, whose skey is another; :head is 0.
const formerHeads = "(seq_nr = :head OR attribute_not_exists(seq_nr) AND attribute_exists(" + formerNumber + "))"

// isFormer reports whether the item has the documents' form.
func isFormer(found item) bool { return found["seq_nr"] == nil && found[formerNumber] != nil }

// readFormer returns an item in today's form.
func readFormer(found item) item {
	if !isFormer(found) {
		return found
	}
	read := maps.Clone(found)
	read["seq_nr"] = found[formerNumber]
	seqNr, numbered := formerValue(found[formerNumber])
	version, locked := formerValue(found["version"])
	if numbered {
		read["seq_nr"] = number(seqNr)
	}
	if at, err := time.Parse(time.RFC3339Nano, found.text("occurred_at")); err == nil {
		read["occurred_at"] = number(at.UnixMilli())
	}
	if strings.HasSuffix(found.text("skey"), headSuffix) {
		read["seq_nr"] = number(headSeqNr)
		if numbered && (locked || found["version"] == nil) {
			read["version"] = number(max(seqNr, version))
		}
	}
	return read
}

// formerState returns the number of the event after which the state in a head is: 1 in a head of today.
func formerState(head item) uint64 {
	if seqNr, numbered := formerValue(head[formerNumber]); numbered {
		return seqNr
	}
	return 1
}

// formerValue returns a whole number that is stored as a number or as text.
func formerValue(stored types.AttributeValue) (value uint64, numbered bool) {
	value, err := strconv.ParseUint(plain(stored), 10, 64)
	return value, err == nil
}
