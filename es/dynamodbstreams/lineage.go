package dynamodbstreams

import (
	"cmp"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// lineage tracks the parents and children of a stream's shards: those that the stream lists and those that have a
// checkpoint. DynamoDB names at most one parent per shard. It must be used by one goroutine.
type lineage struct{ shards map[string]*shard }

type shard struct {
	id, parent string
	position   position // as of the last start or end
	running    bool
	unlisted   int // consecutive listings without the shard
}

// forgetAfter is the number of consecutive listings without a shard before its checkpoint is deleted. The service
// sometimes omits shards from a listing.
const forgetAfter = 3

func newLineage() *lineage { return &lineage{shards: map[string]*shard{}} }

// restore adds a shard that has a checkpoint. Until it is listed, it has no parent to wait for: either it had begun, so
// its parent was done, or it is done itself.
func (l *lineage) restore(id string, at position) {
	l.shards[id] = &shard{id: id, position: at, unlisted: 1}
}

// list updates the shards from a complete listing of the stream.
func (l *lineage) list(listed []types.Shard) {
	for _, s := range l.shards {
		s.unlisted++
	}
	for _, description := range listed {
		id := aws.ToString(description.ShardId)
		s, known := l.shards[id]
		if !known {
			s = &shard{id: id}
			l.shards[id] = s
		}
		s.parent, s.unlisted = aws.ToString(description.ParentShardId), 0
		if s.position.kind == gone {
			s.position = position{} // it was missing and is listed again
		}
	}
}

// ready returns the shards that can be started: not running, not done, and without an unfinished parent.
func (l *lineage) ready() []*shard {
	return l.pick(func(s *shard) bool {
		parent := l.shards[s.parent]
		return !s.running && !s.position.done() && (parent == nil || parent.position.done())
	})
}

// unfinished returns the shards that are not done.
func (l *lineage) unfinished() []*shard {
	return l.pick(func(s *shard) bool { return !s.position.done() })
}

// forgettable returns the shards whose checkpoints are no longer needed: done, no longer listed, and all their children
// begun.
func (l *lineage) forgettable() []*shard {
	waiting := map[string]bool{}
	for _, s := range l.shards {
		if s.position.kind == unbegun {
			waiting[s.parent] = true
		}
	}
	return l.pick(func(s *shard) bool {
		return s.position.done() && s.unlisted >= forgetAfter && !waiting[s.id]
	})
}

func (l *lineage) forget(shards []*shard) {
	for _, s := range shards {
		delete(l.shards, s.id)
	}
}

// covered reports whether the stream cannot have trimmed records of a shard that has not begun: its parent was read to
// the end, and recently enough.
func (l *lineage) covered(s *shard, now time.Time) bool {
	parent := l.shards[s.parent]
	return parent != nil && parent.position.kind == ended && parent.position.trusted(now)
}

func (l *lineage) pick(wanted func(*shard) bool) []*shard {
	var picked []*shard
	for _, s := range l.shards {
		if wanted(s) {
			picked = append(picked, s)
		}
	}
	slices.SortFunc(picked, func(a, b *shard) int { return cmp.Compare(a.id, b.id) })
	return picked
}
