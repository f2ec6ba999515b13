package simulation

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// stream has the events of the store in shards. The events of one aggregate are in several of them, as in DynamoDB's.
type stream struct {
	random  *rand.Rand
	mutex   sync.Mutex
	shards  []*shard
	open    []*shard
	held    []projection.Record // come late
	holds   int
	trimmed bool            // something was forgotten
	fault   map[string]bool // of the next read
}

type shard struct {
	name    string
	records []projection.Record
	first   int      // those before it are forgotten
	next    []*shard // after it was closed: one, or two
}

const (
	roots      = 2
	mostShards = 5     // open at once
	ended      = "end" // the position after a closed shard
)

func newStream(random *rand.Rand) *stream {
	s := &stream{random: random, fault: map[string]bool{}}
	for range roots {
		s.begin()
	}
	return s
}

func (s *stream) begin() *shard {
	made := &shard{name: fmt.Sprint("shard-", len(s.shards))}
	s.shards, s.open = append(s.shards, made), append(s.open, made)
	return made
}

// renew closes the open shards, and opens one or two after each.
func (s *stream) renew() {
	before := s.open
	s.open = nil
	for i, one := range before {
		one.next = append(one.next, s.begin())
		if left := len(before) - i - 1; len(s.open)+left < mostShards && s.random.IntN(2) == 0 {
			one.next = append(one.next, s.begin())
		}
	}
}

func (s *stream) meet(kind string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch kind {
	case trim:
		s.trimmed = true
		for _, one := range s.shards {
			one.first = len(one.records)
		}
	case split:
		s.renew()
	case late:
		s.holds++
	default:
		s.fault[kind] = true
	}
}

// add puts the events of a write into the stream.
func (s *stream) add(id es.AggregateID, entries []es.Entry) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, entry := range entries {
		record := projection.Record{Key: id, SeqNr: entry.SeqNr, Payload: entry.Payload}
		if s.holds > 0 {
			s.holds--
			s.held = append(s.held, record)
		} else {
			s.put(record)
		}
	}
	if len(s.held) > 2 {
		s.release()
	}
}

// release brings what is late.
func (s *stream) release() {
	for _, record := range s.held {
		s.put(record)
	}
	s.held = nil
}

func (s *stream) put(record projection.Record) {
	hash := fnv.New32a()
	fmt.Fprint(hash, record.Key, record.SeqNr)
	to := s.open[int(hash.Sum32())%len(s.open)]
	to.records = append(to.records, record)
}

func (s *stream) flush() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.release()
}

// before returns the records before a checkpoint.
func (s *stream) before(at projection.Checkpoint) []projection.Record {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, one := range s.shards {
		if one.name == at.Shard {
			position, err := strconv.Atoi(at.Position)
			if err != nil { // ended
				position = len(one.records)
			}
			return one.records[:position]
		}
	}
	return nil
}

var errTrimmed = errors.New("the stream has forgotten records")

// read returns some records from a position, and the position after them.
func (s *stream) read(from *shard, at int) (records []projection.Record, next int, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if at < from.first {
		return nil, from.first, errTrimmed
	}
	next = min(at+1+s.random.IntN(5), len(from.records))
	if s.fault[again] {
		at = max(from.first, at-5)
	}
	records = append(records, from.records[at:next]...)
	if len(records) == 0 {
		return nil, next, nil
	}
	if s.fault[shuffle] {
		s.random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	}
	if s.fault[garble] {
		one := &records[s.random.IntN(len(records))]
		one.Payload = one.Payload[:len(one.Payload)/2]
	}
	clear(s.fault)
	return records, next, nil
}

// source follows the stream for one projector.
type source struct {
	*stream
	p    *Process
	sink projection.Sink
	rows rows
	// termless: other processes write, too. It begins with a repair, and looks now and then whether one is due.
	termless bool
}

// run follows all shards until the process dies, as a source does: parents first, each from its checkpoint.
func (f source) run(ctx context.Context) {
	at := map[string]string{}
	fromFirst := false
	f.try(ctx, func() error {
		found, err := f.rows.Checkpoints(ctx, "stream")
		for _, one := range found {
			at[one.Shard] = one.Position
		}
		return err
	})
	f.mutex.Lock()
	fromFirst = len(at) == 0 && !f.trimmed && !f.termless
	f.mutex.Unlock()
	f.try(ctx, func() error { return f.sink.Begin(ctx, fromFirst) })
	if f.termless {
		go func() {
			ctx := as(ctx, f.rows.name+" schedule")
			for es.Wait(ctx, 10*time.Second) == nil {
				_ = f.sink.Begin(ctx, false)
			}
		}()
	}
	var group sync.WaitGroup
	var follow func(*shard)
	follow = func(one *shard) {
		if at[one.name] != ended {
			f.follow(as(ctx, f.rows.name+" "+one.name), one, at[one.name])
		}
		for _, next := range f.after(one) {
			group.Go(func() { follow(next) })
		}
	}
	for _, root := range f.shards[:roots] {
		group.Go(func() { follow(root) })
	}
	group.Wait()
}

// try repeats until it succeeds or ctx ends.
func (f source) try(ctx context.Context, do func() error) {
	for ctx.Err() == nil && do() != nil {
		_ = es.Wait(ctx, time.Second)
	}
}

// after returns the shards that follow one, if it is closed.
func (s *stream) after(one *shard) []*shard {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return one.next
}

// follow projects a shard until it is closed and read, or ctx ends.
func (f source) follow(ctx context.Context, one *shard, position string) {
	at, _ := strconv.Atoi(position)
	project := func(batch projection.Batch) {
		batch.Checkpoint.Source, batch.Checkpoint.Shard = "stream", one.name
		failed := false
		f.try(ctx, func() (err error) {
			if failed {
				err = f.sink.Begin(ctx, false)
			}
			if err == nil {
				_, err = f.sink.Project(ctx, batch)
			}
			failed = failed || err != nil
			return err
		})
	}
	for ctx.Err() == nil {
		var records []projection.Record
		next, closed := at, false
		err := f.p.Do(ctx, ofStream, fmt.Sprint("reads ", one.name, " after ", at), nil, func() (err error) {
			closed = len(f.after(one)) > 0
			records, next, err = f.read(one, at)
			return err
		})
		switch {
		case errors.Is(err, errTrimmed):
			f.try(ctx, func() error { return f.sink.OweRepair(ctx) })
			at = next
		case err == nil && len(records) > 0:
			project(projection.Batch{Records: records, Checkpoint: projection.Checkpoint{Position: strconv.Itoa(next)}})
			at = next
		case err == nil && closed:
			project(projection.Batch{Checkpoint: projection.Checkpoint{Position: ended}})
			return
		default:
			_ = es.Wait(ctx, time.Second)
		}
	}
}
