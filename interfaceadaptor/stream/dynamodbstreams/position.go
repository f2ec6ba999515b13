package dynamodbstreams

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// kind is where in a shard a position is.
type kind string

const (
	unbegun kind = ""      // nothing is stored of the shard
	begun   kind = "begin" // at the oldest record that the stream still has
	after   kind = "after" // behind the record with the sequence number
	ended   kind = "end"   // behind the last record of a shard that is closed
	gone    kind = "gone"  // the stream forgot the shard before it was read to the end
)

// position is how far a shard has been projected. Its text is what a checkpoint stores.
type position struct {
	kind     kind
	sequence string // with after
	// at is a time that no unread record of the shard, or of its children, is older than. With begun it is when that was
	// known to be so give or take the horizon; afterwards it is the creation time of the last record.
	at time.Time
}

// done tells that nothing is left to read, so that the shard's children can begin.
func (p position) done() bool { return p.kind == ended || p.kind == gone }

// trusted tells that a reader that starts at the oldest record still there misses nothing.
func (p position) trusted(now time.Time) bool { return p.kind != gone && now.Sub(p.at) < horizon }

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
	case len(fields) == 3 && kind(fields[0]) == after:
		p = position{kind: after, sequence: fields[1]}
	case len(fields) == 2 && (kind(fields[0]) == begun || kind(fields[0]) == ended || kind(fields[0]) == gone):
		p = position{kind: kind(fields[0])}
	default:
		return position{}, fmt.Errorf("position %q: %w", text, errPosition)
	}
	at, err := time.Parse(time.RFC3339, fields[len(fields)-1])
	if err != nil {
		return position{}, fmt.Errorf("position %q: %w", text, errPosition)
	}
	p.at = at
	return p, nil
}

var errPosition = errors.New("expected begin, after <sequence number>, end or gone, and a time")
