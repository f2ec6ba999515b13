package e2e

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"sync"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
)

// splits makes of the only shard of a stream on DynamoDB Local what DynamoDB makes of one: it ends, and two others go
// on, each with the records of some partition keys; then each of these ends and another one goes on, and so on.
type splits struct {
	mutex  sync.Mutex
	last   map[string]string   // the number of the last record that anybody has read, by DynamoDB Local's shard
	ends   map[string][]string // and that of each generation that has ended
	pieces map[string]piece    // by the ids that were told
	read   map[piece]bool      // to their ends
}

func newSplits() *splits {
	return &splits{last: map[string]string{}, ends: map[string][]string{}, pieces: map[string]piece{}, read: map[piece]bool{}}
}

// readEnds returns how many shards were read to their ends.
func (s *splits) readEnds() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.read)
}

// piece is a part of DynamoDB Local's shard. The first generation has all keys.
type piece struct {
	Whole            string
	Generation, Half int
}

func (p piece) id() string {
	if p.Generation == 0 {
		return p.Whole
	}
	return fmt.Sprintf("%s-%d%c", p.Whole, p.Generation, 'a'+p.Half)
}

// cursor is an iterator of a piece: DynamoDB Local's, and the number of the last record that it has passed.
type cursor struct {
	piece
	At, Iterator string
}

func (c cursor) String() string {
	text, _ := json.Marshal(c) // texts and numbers always encode
	return string(text)
}

// split ends the open shards of which a record has been read.
func (s *splits) split() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for whole, last := range s.last {
		s.ends[whole] = append(s.ends[whole], last)
	}
}

// ask changes a call and returns what changes its answer, or nil.
func (s *splits) ask(action string, call said) (change func(said)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch action {
	case "DescribeStream":
		return s.describe
	case "GetShardIterator":
		of := s.pieces[call["ShardId"].(string)]
		if of.Generation > 0 && call["ShardIteratorType"] == "TRIM_HORIZON" {
			call["ShardIteratorType"], call["SequenceNumber"] = "AFTER_SEQUENCE_NUMBER", s.ends[of.Whole][of.Generation-1]
		}
		call["ShardId"] = of.Whole
		at, _ := call["SequenceNumber"].(string) // none: before all records
		return func(answer said) {
			answer["ShardIterator"] = cursor{of, at, answer["ShardIterator"].(string)}.String()
		}
	case "GetRecords":
		var from cursor
		if err := json.Unmarshal([]byte(call["ShardIterator"].(string)), &from); err != nil {
			panic(err) // all iterators are ours
		}
		call["ShardIterator"] = from.Iterator
		return func(answer said) { s.records(from, answer) }
	default:
		return nil
	}
}

func (s *splits) describe(answer said) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	described := answer["StreamDescription"].(said)
	var shards []said
	for _, whole := range described["Shards"].([]any) {
		id, first := whole.(said)["ShardId"].(string), whole.(said)["SequenceNumberRange"].(said)["StartingSequenceNumber"]
		ends := s.ends[id]
		for generation := range len(ends) + 1 {
			numbers := said{"StartingSequenceNumber": first}
			if generation < len(ends) {
				first, numbers["EndingSequenceNumber"] = ends[generation], ends[generation]
			}
			for half := range min(generation, 1) + 1 {
				one := piece{id, generation, half}
				s.pieces[one.id()] = one
				shard := said{"ShardId": one.id(), "SequenceNumberRange": numbers}
				if generation > 0 {
					shard["ParentShardId"] = piece{id, generation - 1, half}.id()
				}
				shards = append(shards, shard)
			}
		}
	}
	described["Shards"] = shards
}

// records leaves those of other pieces out. DynamoDB Local pads its sequence numbers, so that they compare as text.
func (s *splits) records(from cursor, answer said) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	end := "" // the shard is open
	if ends := s.ends[from.Whole]; from.Generation < len(ends) {
		end = ends[from.Generation]
	}
	kept := []any{}
	for _, record := range answer["Records"].([]any) {
		change := record.(said)["dynamodb"].(said)
		number := change["SequenceNumber"].(string)
		from.At, s.last[from.Whole] = max(from.At, number), max(s.last[from.Whole], number)
		if (end == "" || number <= end) && (from.Generation == 0 || halfOf(change["Keys"].(said)["pkey"]) == from.Half) {
			kept = append(kept, record)
		}
	}
	answer["Records"] = kept
	if next, _ := answer["NextShardIterator"].(string); next != "" && (end == "" || from.At < end) {
		from.Iterator = next
		answer["NextShardIterator"] = from.String()
	} else {
		delete(answer, "NextShardIterator")
		s.read[from.piece] = true
	}
}

func halfOf(key any) int {
	hash := fnv.New32a()
	_, _ = fmt.Fprint(hash, key) // never fails
	return int(hash.Sum32() & 1)
}

// All shards end, while an updater reads them and while none does. No repair reads the journal instead.
func TestShardsThatEnd(t *testing.T) {
	startsPrograms(t)
	between := newWires(0)
	s := threePrograms(t, between.through(t, dynamoDB(t)))
	ada := s.person("acme")
	var threads []string
	for range 6 { // under several partition keys
		threads = append(threads, ada.command(t, "/threads/create", fields{"name": "tea"}).text("thread_id"))
	}
	const rounds = 6
	for round := range rounds {
		if round%2 == 1 {
			s.projector.Kill(t)
		}
		for i := range 5 {
			for _, thread := range threads {
				ada.command(t, "/threads/post_message", fields{"thread_id": thread, "text": fmt.Sprint("cup ", i)})
			}
		}
		if round%2 == 1 {
			s.projector.Start(t)
		}
		for _, thread := range threads {
			if view := ada.view(t, thread, fmt.Sprintf("%s:%d", thread, 1+5*(round+1))); len(view.Messages) != 5*(round+1) {
				t.Fatalf("in round %d a thread has %d messages", round, len(view.Messages))
			}
		}
		between.splits.split()
	}
	testenv.Eventually(t, 30*time.Second, func() error {
		if read, all := between.splits.readEnds(), 1+2*(rounds-1); read != all {
			return fmt.Errorf("%d of %d shards were read to their ends", read, all)
		}
		return nil
	})
	for _, name := range []string{"stream_positions_lost_total", "projection_repairs_total"} { // since the last start
		if err := s.metric(t, name, "0"); err != nil {
			t.Error(err)
		}
	}
	s.operate(t, allIsWell, "rows", "verify")
}
