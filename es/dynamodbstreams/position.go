package dynamodbstreams

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// kind is the kind of a position in a shard.
type kind string

const (
	unbegun kind = ""      // no checkpoint is stored for the shard
	begun   kind = "begin" // at the oldest record that the stream still has
	after   kind = "after" // after the record with the sequence number
	ended   kind = "end"   // after the last record of a closed shard
	gone    kind = "gone"  // the stream deleted the shard before it was read to the end
)

// horizon is how long a position is trusted before anything was read from it: half of the stream's retention, because a
// shard's first records can already be that old when it begins.
const horizon = 12 * time.Hour

// position is how far a shard has been projected. Its text is stored in a checkpoint.
type position struct {
	kind     kind
	sequence string // for kind after
	// at is a time that no unread record of the shard, or of its children, is older than. For begun it is the time when
	// the position was stored, accurate to the horizon; later it is the creation time of the last record.
	at time.Time
}

// done reports whether nothing is left to read, so that the shard's children can begin.
func (p position) done() bool { return p.kind == ended || p.kind == gone }

// trusted reports whether a reader that starts at the oldest remaining record misses nothing. A time that is still to
// come was stored by a clock that was ahead, and tells nothing.
func (p position) trusted(now time.Time) bool {
	age := now.Sub(p.at)
	return p.kind != gone && -time.Hour < age && age < horizon
}

func (p position) String() string {
	at := p.at.UTC().Format(time.RFC3339)
	if p.kind == after {
		return string(p.kind) + " " + p.sequence + " " + at
	}
	return string(p.kind) + " " + at
}

func parsePosition(text string) (position, error) {
	fields := strings.Fields(text)
	var p position
	switch {
	case len(fields) == 3 && fields[0] == string(after):
		p = position{kind: after, sequence: fields[1]}
	case len(fields) == 2 && slices.Contains([]kind{begun, ended, gone}, kind(fields[0])):
		p = position{kind: kind(fields[0])}
	default:
		return p, fmt.Errorf("position %q is not begin, after <sequence number>, end or gone, followed by a time", text)
	}
	var err error
	p.at, err = time.Parse(time.RFC3339, fields[len(fields)-1])
	return p, err
}
