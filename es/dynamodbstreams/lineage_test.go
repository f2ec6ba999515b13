package dynamodbstreams_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"pgregory.net/rapid"

	"example.com/threads/es/dynamodbstreams"
	"example.com/threads/es/estest/testenv"
	"example.com/threads/es/projection"
)

// A story is a stream's life over days and the lives of the process that reads it. All times are relative to the
// beginning.
type story struct {
	shards   []shardPlot
	lives    []processLife
	faults   []string // errors that calls return at random
	seed     uint64
	settings dynamodbstreams.Settings
	pageSize int
	trims    bool
}

type shardPlot struct {
	parent   int // index, or -1
	from, to time.Duration
	records  []time.Duration
}

// processLife is one run of the process. It starts after a pause and dies with its n-th transaction, before or after
// the commit.
type processLife struct {
	pause     time.Duration
	dies      int
	committed bool
	repair    bool // die in the middle of a repair instead, if there is one
}

func drawStory(t *rapid.T) story {
	minutes := func(label string, from, to int) time.Duration {
		return time.Duration(rapid.IntRange(from, to).Draw(t, label)) * time.Minute
	}
	s := story{
		pageSize: rapid.IntRange(1, 4).Draw(t, "page size"),
		trims:    rapid.Bool().Draw(t, "trims empty shards"),
		settings: dynamodbstreams.Settings{
			PageLimit:   int32(rapid.IntRange(1, 4).Draw(t, "page limit")),
			Concurrency: rapid.IntRange(1, 3).Draw(t, "concurrency"),
		},
		faults: append(rapid.SliceOfN(rapid.SampledFrom([]string{"throttle", "network", "expired", "empty"}), 0, 3).Draw(t, "faults"), "", "", ""),
		seed:   rapid.Uint64().Draw(t, "seed"),
	}
	for i := range rapid.IntRange(1, 9).Draw(t, "shards") {
		shard := shardPlot{parent: rapid.IntRange(-1, i-1).Draw(t, "parent")}
		if shard.parent >= 0 {
			parent := &s.shards[shard.parent]
			if parent.to == 0 {
				parent.to = parent.from + minutes("lasts", 1, 6*60)
			}
			shard.from = parent.to
		}
		s.shards = append(s.shards, shard)
	}
	for i := range s.shards {
		shard := &s.shards[i]
		at := shard.from
		for range rapid.IntRange(0, 5).Draw(t, "records") {
			at += minutes("gap", 0, 90)
			if shard.to != 0 && at >= shard.to {
				break
			}
			shard.records = append(shard.records, at)
		}
	}
	for range rapid.IntRange(0, 5).Draw(t, "lives") {
		s.lives = append(s.lives, processLife{
			pause: minutes("pause", 0, 30*60), dies: rapid.IntRange(1, 12).Draw(t, "dies"),
			committed: rapid.Bool().Draw(t, "committed"), repair: rapid.Bool().Draw(t, "in a repair"),
		})
	}
	return s
}

// TestNothingIsLostAndParentsComeFirst runs random stories: families of shards that split and roll over, records that
// are trimmed after a day, a process that is killed at any point and restarted much later, and a service that
// throttles, drops connections and expires iterators. In the end all events must be in the read model, and no shard's
// records may be delivered before those of its ancestors.
func TestNothingIsLostAndParentsComeFirst(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := drawStory(r)
		var err error
		testenv.Bubble(t, func(t *testing.T) { err = s.tell(t.Context()) })
		if err != nil {
			r.Fatal(err)
		}
	})
}

func (s story) tell(ctx context.Context) error {
	begin := time.Now()
	streams := &aws24h{arn: arn, pageSize: s.pageSize, trimsEmpty: s.trims, fault: s.fault()}
	home := map[uint64]int{} // the shard of each record
	next := uint64(1)
	last := begin
	for i, plot := range s.shards {
		shard := &fakeShard{id: shardID(i), from: begin.Add(plot.from)}
		if plot.parent >= 0 {
			shard.parent = shardID(plot.parent)
		}
		if plot.to != 0 {
			shard.to = begin.Add(plot.to)
		}
		for _, at := range plot.records {
			shard.records = append(shard.records, recordOf(next, begin.Add(at)))
			home[next] = i
			next++
			last = later(last, begin.Add(at))
		}
		last = later(last, shard.to)
		streams.add(shard)
	}

	store := newMemory()
	store.journal = func() []uint64 { return written(streams) }
	var violation error
	check := func(batch projection.Batch) {
		violation = errors.Join(violation, s.endedBefore(batch.Checkpoint.Shard, streams, store.checkpoints[arn]))
		for _, record := range batch.Records {
			for parent := s.shards[home[record.SeqNr]].parent; parent >= 0; parent = s.shards[parent].parent {
				if missing := unread(streams.shards[parent], store.rows); missing > 0 && !store.due {
					violation = errors.Join(violation, fmt.Errorf("event %d of shard %d came before %d events of shard %d", record.SeqNr, home[record.SeqNr], missing, parent))
				}
			}
		}
	}
	for _, life := range s.lives {
		<-time.After(life.pause)
		life.live(ctx, streams, dynamodbstreams.Share(streams), store, s.settings, check)
	}
	<-time.After(time.Until(last))
	store.before = func(batch projection.Batch) error { check(batch); return nil }
	store.after, store.beforeFix = nil, nil
	source, stop := startOn(ctx, streams, dynamodbstreams.Share(streams), store, s.settings)
	err := within(10*time.Minute, func() error {
		if err := store.hasRows(int(next - 1)); err != nil {
			return err
		}
		if lag := source.Lag(ctx); lag.Behind != 0 || lag.Records != 0 {
			return fmt.Errorf("the lag is not 0: %+v", lag)
		}
		return errors.Join(store.settled(), source.Health())
	})
	stop()
	return errors.Join(err, violation)
}

// endedBefore checks that a shard's parent is stored as ended when a position of the shard is stored.
func (s story) endedBefore(shard string, streams *aws24h, stored map[string]string) error {
	for i, plot := range s.shards {
		if shardID(i) != shard || plot.parent < 0 {
			continue
		}
		parent := streams.shards[plot.parent]
		at, known := stored[parent.id]
		if known && !strings.HasPrefix(at, "end") && !strings.HasPrefix(at, "gone") || !known && parent.listed(time.Now()) {
			return fmt.Errorf("shard %s was started while its parent %s was at %q", shard, parent.id, at)
		}
	}
	return nil
}

// live runs a process until it dies, or for a minute.
func (l processLife) live(ctx context.Context, streams *aws24h, client *dynamodbstreams.Streams, store *memory, settings dynamodbstreams.Settings, check func(projection.Batch)) {
	dead := make(chan struct{})
	left := l.dies
	isDead := func() bool {
		select {
		case <-dead:
			return true
		default:
			return false
		}
	}
	store.look(func() {
		store.before = func(batch projection.Batch) error {
			if isDead() {
				return errRefused
			}
			check(batch)
			if left--; left == 0 && !l.committed {
				close(dead)
				return errRefused
			}
			return nil
		}
		store.after = func(projection.Batch) error {
			if left == 0 && !isDead() {
				close(dead)
				return errRefused
			}
			return nil
		}
		store.beforeFix = func(context.Context) error {
			store.mu.Lock()
			defer store.mu.Unlock()
			if l.repair && !isDead() {
				close(dead)
			}
			if isDead() {
				return errRefused
			}
			return nil
		}
	})
	_, stop := startOn(ctx, streams, client, store, settings)
	select {
	case <-dead:
	case <-time.After(time.Minute):
	}
	stop()
}

func (s story) fault() func(call, shard string) error {
	chance := rand.New(rand.NewPCG(s.seed, 0))
	return func(call, _ string) error {
		switch s.faults[chance.IntN(len(s.faults))] {
		case "throttle":
			return &types.LimitExceededException{}
		case "network":
			return errors.New("connection reset by peer")
		case "expired":
			if call == "GetRecords" {
				return &types.ExpiredIteratorException{}
			}
		case "empty":
			if call == "GetRecords" {
				return errEmptyPage
			}
		}
		return nil
	}
}

// written returns the events that are in the journal now.
func written(streams *aws24h) []uint64 {
	streams.mu.Lock()
	defer streams.mu.Unlock()
	var all []uint64
	for _, shard := range streams.shards {
		_, upTo := shard.visible(time.Now())
		for _, record := range shard.records[:upTo] {
			all = append(all, seqNrOf(record))
		}
	}
	return all
}

// unread returns the number of the shard's events that are not in the rows.
func unread(shard *fakeShard, rows map[uint64]bool) int {
	missing := 0
	for _, record := range shard.records {
		if !rows[seqNrOf(record)] {
			missing++
		}
	}
	return missing
}

func seqNrOf(record types.Record) (seqNr uint64) {
	_, _ = fmt.Sscan(record.Dynamodb.NewImage["seq_nr"].(*types.AttributeValueMemberN).Value, &seqNr)
	return seqNr
}

func shardID(i int) string { return fmt.Sprintf("shardId-%05d", i) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
