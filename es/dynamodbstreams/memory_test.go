package dynamodbstreams_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/projection"
)

// memory is a read model of the delivered records, stored in transactions with the checkpoints. It replaces the
// database in tests that must stop, kill or fail it at an exact point.
type memory struct {
	mu          sync.Mutex
	checkpoints map[string]map[string]string // by source and shard
	rows        map[uint64]bool              // the projected events by seq_nr
	handed      []projection.Record          // in order of delivery, duplicates included
	due         bool                         // a repair is due
	losses      int
	repair      chan struct{}
	repairs     int
	journal     func() []uint64                 // the seq_nrs for a repair
	before      func(projection.Batch) error    // called before a batch is stored; an error refuses the batch
	after       func(projection.Batch) error    // called after a batch is stored; the source gets its error
	beforeFix   func(ctx context.Context) error // the same for repairs
}

func newMemory() *memory {
	return &memory{checkpoints: map[string]map[string]string{}, rows: map[uint64]bool{}, repair: make(chan struct{}, 1), journal: func() []uint64 { return nil }}
}

func (m *memory) Project(_ context.Context, batch projection.Batch) (projection.Outcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.before != nil {
		if err := m.before(batch); err != nil {
			return projection.Outcome{}, err
		}
	}
	for _, record := range batch.Records {
		m.rows[record.SeqNr] = true
		m.handed = append(m.handed, record)
	}
	at := batch.Checkpoint
	if m.checkpoints[at.Source] == nil {
		m.checkpoints[at.Source] = map[string]string{}
	}
	m.checkpoints[at.Source][at.Shard] = at.Position
	if m.after != nil {
		return projection.Outcome{}, m.after(batch)
	}
	return projection.Outcome{}, nil
}

// Begin implements [projection.Sink].
func (m *memory) Begin(_ context.Context, fromFirst bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if fromFirst {
		return errors.New("a stream does not bring every event")
	}
	m.wake()
	return nil
}

// OweRepair implements [projection.Sink].
func (m *memory) OweRepair(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.before != nil {
		if err := m.before(projection.Batch{}); err != nil {
			return err
		}
	}
	m.due = true
	m.losses++
	m.wake()
	return nil
}

func (m *memory) wake() {
	select {
	case m.repair <- struct{}{}:
	default:
	}
}

// repairWhenDue makes the requested repairs until ctx ends.
func (m *memory) repairWhenDue(ctx context.Context) {
	for {
		select {
		case <-m.repair:
		case <-ctx.Done():
			return
		}
		for m.repairOnce(ctx) != nil {
			if es.Wait(ctx, 100*time.Millisecond) != nil {
				return
			}
		}
	}
}

func (m *memory) repairOnce(ctx context.Context) error {
	m.mu.Lock()
	due, losses := m.due, m.losses
	m.mu.Unlock()
	if !due {
		return nil
	}
	if m.beforeFix != nil {
		if err := m.beforeFix(ctx); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.repairs++
	for _, seqNr := range m.journal() {
		m.rows[seqNr] = true
	}
	m.due = m.losses != losses
	return nil
}

func (m *memory) Checkpoints(_ context.Context, source string) ([]projection.Checkpoint, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []projection.Checkpoint
	for shard, at := range m.checkpoints[source] {
		all = append(all, projection.Checkpoint{Source: source, Shard: shard, Position: at})
	}
	return all, nil
}

func (m *memory) Forget(_ context.Context, source string, shards ...string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, shard := range shards {
		delete(m.checkpoints[source], shard)
	}
	return nil
}

// count returns the number of delivered records, duplicates included.
func (m *memory) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.handed)
}

// look runs a function between two transactions.
func (m *memory) look(look func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	look()
}

// within waits, on the fake clock, until check returns nil.
func within(limit time.Duration, check func() error) error {
	deadline := time.Now().Add(limit)
	for {
		err := check()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not true within %s: %w", limit, err)
		}
		<-time.After(10 * time.Millisecond)
	}
}

var errRefused = errors.New("the database refuses")

func (m *memory) madeRepairs() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.repairs
}
