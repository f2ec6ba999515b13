// extra:whole

package lambdatest

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"slices"
	"sync"
	"time"
)

// Function is what a mapping invokes: [Service.Invoke], or a model of it.
type Function func(ctx context.Context, payload []byte) (answer []byte, err error)

// Record is a record of a stream.
type Record struct {
	Shard    string
	Item     string // its key: partition and sort key
	Sequence string
	Created  time.Time
	JSON     json.RawMessage // as Lambda passes it on
}

// Mapping is an event source mapping. Of the records of each shard it makes batches, in as many lanes as the
// parallelisation factor says: records of the same item are in the same lane, in order, and a lane has one batch at a
// time. Each event is an item, so with a factor above one those of an aggregate come beside each other, in any order.
// (Lambda's page on parallelization factors promises order for the changes of one item only.)
type Mapping struct {
	Invoke    Function
	BatchSize int
	Window    time.Duration // how long a batch waits for more records
	Tumbling  time.Duration // of windows, in which each answer must have a state; 0: none
	Factor    int
	Bisect    bool          // of a batch that failed: each half is tried alone
	Retries   int           // of a batch; -1: for ever
	MaxAge    time.Duration // of a record; 0: no limit
	Pause     time.Duration // between two attempts
	// OnFailure gets the message to the destination for each batch that is given up. Required, unless none can be.
	OnFailure func(message []byte)
	// Faulty, unless nil, returns what is sent in the place of a batch, and whether the same is sent once more, later
	// and beside others.
	Faulty func(batch []Record) (sent []Record, again bool)

	ctx     context.Context //nolint:containedctx // of all lanes
	working sync.WaitGroup
	mu      sync.Mutex
	lanes   map[lane]chan Record
	waiting int // records that are not done
}

type lane struct {
	shard string
	part  uint32
}

// Start lets the mapping work until ctx ends. [Mapping.Wait] waits for that.
func (m *Mapping) Start(ctx context.Context) *Mapping {
	m.ctx, m.lanes = ctx, make(map[lane]chan Record)
	return m
}

// Wait waits until all lanes have ended.
func (m *Mapping) Wait() { m.working.Wait() }

// Waiting returns how many records are neither done nor given up.
func (m *Mapping) Waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waiting
}

const longestLane = 1 << 17 // records

// Feed hands the next record of a shard to its lane.
func (m *Mapping) Feed(r Record) {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(r.Item))
	of := lane{r.Shard, hash.Sum32() % uint32(max(1, m.Factor))}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting++
	if m.lanes[of] == nil {
		records := make(chan Record, longestLane)
		m.lanes[of] = records
		m.working.Go(func() { m.work(records) })
	}
	m.lanes[of] <- r
}

func (m *Mapping) work(records chan Record) {
	begun := time.Now() // the tumbling window
	for {
		var batch []Record
		select {
		case <-m.ctx.Done():
			return
		case r := <-records:
			batch = append(batch, r)
		}
		window := time.After(m.Window)
		for open := true; open && len(batch) < m.BatchSize; {
			select {
			case r := <-records:
				batch = append(batch, r)
			case <-window:
				open = false
			}
		}
		m.deliver(batch, 0)
		if m.Tumbling > 0 && time.Since(begun) >= m.Tumbling {
			for m.ctx.Err() == nil && !m.ended(begun) {
				m.pause()
			}
			begun = time.Now()
		}
		m.mu.Lock()
		m.waiting -= len(batch)
		m.mu.Unlock()
	}
}

// ended tells the function that a tumbling window has ended, and reports whether it knows.
func (m *Mapping) ended(begun time.Time) bool {
	body, err := m.Invoke(m.ctx, marshalled(map[string]any{
		"Records": []any{}, "state": map[string]string{}, "isFinalInvokeForWindow": true, "isWindowTerminatedEarly": false,
		"window": map[string]any{"start": begun, "end": begun.Add(m.Tumbling)},
	}))
	var said struct{ State map[string]string }
	return err == nil && json.Unmarshal(body, &said) == nil && said.State != nil
}

func (m *Mapping) pause() {
	select {
	case <-time.After(m.Pause):
	case <-m.ctx.Done():
	}
}

// deliver invokes the function until the batch is done or given up.
func (m *Mapping) deliver(batch []Record, attempts int) {
	for len(batch) > 0 && m.ctx.Err() == nil {
		if m.MaxAge > 0 {
			young := slices.IndexFunc(batch, func(r Record) bool { return time.Since(r.Created) <= m.MaxAge })
			if young != 0 {
				old := batch
				if young > 0 {
					old = batch[:young]
				}
				m.giveUp(old, "RecordAgeExceeded", attempts)
				batch = batch[len(old):]
				continue
			}
		}
		done := m.invoke(batch)
		batch = batch[done:]
		if len(batch) == 0 {
			return
		}
		if half := len(batch) / 2; m.Bisect && done == 0 && half > 0 { // which is no attempt
			m.pause()
			m.deliver(batch[:half], attempts)
			batch = batch[half:]
			continue
		}
		if attempts++; m.Retries >= 0 && attempts > m.Retries {
			m.giveUp(batch, "RetryAttemptsExhausted", attempts)
			return
		}
		m.pause()
	}
}

// invoke sends a batch, and returns how many of its records are done: by a partial response, those before the lowest
// number that it names. What can't be understood means that none is.
func (m *Mapping) invoke(batch []Record) (done int) {
	sent, again := batch, false
	if m.Faulty != nil {
		sent, again = m.Faulty(slices.Clone(batch))
	}
	payload := EventOf(sent)
	body, err := m.Invoke(m.ctx, payload)
	if again {
		m.working.Go(func() { _, _ = m.Invoke(m.ctx, payload) })
	}
	var said struct {
		BatchItemFailures []struct{ ItemIdentifier string }
		State             map[string]string
	}
	if err != nil || json.Unmarshal(body, &said) != nil || (m.Tumbling > 0 && said.State == nil) {
		return 0
	}
	done = len(batch)
	for _, failed := range said.BatchItemFailures {
		// A number that is not in the batch (-1) means that all of it has failed.
		done = max(0, min(done, slices.IndexFunc(batch, func(r Record) bool { return r.Sequence == failed.ItemIdentifier })))
	}
	return done
}

// EventOf is the event with which Lambda hands on a batch.
func EventOf(batch []Record) []byte {
	records := make([]json.RawMessage, len(batch))
	for i, r := range batch {
		records[i] = r.JSON
	}
	return marshalled(map[string]any{"Records": records})
}

func marshalled(event map[string]any) []byte {
	payload, err := json.Marshal(event)
	if err != nil {
		panic(err) // texts, numbers and JSON
	}
	return payload
}

// giveUp tells the destination, which gets no records, but where they are.
func (m *Mapping) giveUp(batch []Record, condition string, attempts int) {
	m.OnFailure(marshalled(map[string]any{
		"version":        "1.0",
		"requestContext": map[string]any{"condition": condition, "approximateInvokeCount": attempts},
		"DDBStreamBatchInfo": map[string]any{
			"shardId": batch[0].Shard, "startSequenceNumber": batch[0].Sequence, "endSequenceNumber": batch[len(batch)-1].Sequence, "batchSize": len(batch),
		},
	}))
}

// FromQueue is the event with which Lambda hands on a message of an SQS queue, such as a mapping's destination.
func FromQueue(message []byte) []byte {
	return marshalled(map[string]any{"Records": []any{map[string]any{
		"messageId": "1", "receiptHandle": "1", "body": string(message), "eventSource": "aws:sqs", "awsRegion": "us-east-1",
		"attributes": map[string]string{"ApproximateReceiveCount": "1"}, "messageAttributes": map[string]any{},
	}}})
}
