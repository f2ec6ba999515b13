package sequence

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"example.com/threads/es"
)

// Reset says when a sequence starts with 1 again.
type Reset string

// The resets: never, year, month and day.
const (
	never   Reset = "never"
	yearly  Reset = "year"
	monthly Reset = "month"
	daily   Reset = "day"
)

// Resets returns all resets as strings.
func Resets() []string {
	return []string{string(never), string(yearly), string(monthly), string(daily)}
}

// layouts are the names of periods, in UTC. They are part of codes: after a reset, the numbers alone are not unique.
var layouts = map[Reset]string{never: "", yearly: "2006", monthly: "200601", daily: "20060102"}

// Settings of a sequence. Zero fields take their defaults.
type Settings struct {
	Reset Reset            // default: never
	Block uint64           // numbers to draw at once and keep in memory; default: 1
	Clock func() time.Time // default: time.Now
}

// Sequence draws the numbers of one kind of things. It is safe for concurrent use.
type Sequence struct {
	store    es.Sequences
	kind     string
	settings Settings

	mutex  sync.Mutex
	blocks *lru.Cache[es.Tenant, *block]
}

// block is the unused rest of the numbers that this process has drawn.
type block struct {
	mutex     sync.Mutex
	period    string
	next, end uint64
}

// maxBlocks is the number of tenants whose blocks are kept. The rest of a dropped block is a gap.
const maxBlocks = 10_000

// New returns the sequence of a kind, such as "ORDER", whose codes begin with it.
func New(store es.Sequences, kind string, settings Settings) *Sequence {
	settings.Reset = cmp.Or(settings.Reset, never)
	settings.Block = cmp.Or(settings.Block, 1)
	if settings.Clock == nil {
		settings.Clock = time.Now
	}
	blocks, err := lru.New[es.Tenant, *block](maxBlocks)
	if err != nil {
		panic(fmt.Sprintf("sequence: %v", err)) // the size is a constant
	}
	return &Sequence{store: store, kind: kind, settings: settings, blocks: blocks}
}

// NextCode draws the tenant's next number and returns it as a code: ORDER-000001, or with a reset ORDER-2026-000001.
// Codes of one period are in the order of drawing unless blocks are used. An unused number, or the rest of a block when
// a process ends, leaves a gap.
func (s *Sequence) NextCode(ctx context.Context, tenant es.Tenant) (string, error) {
	period := s.settings.Clock().UTC().Format(layouts[s.settings.Reset])
	number, err := s.next(ctx, tenant, period)
	if err != nil {
		return "", fmt.Errorf("draw the next number of the sequence %s: %w", s.kind, err)
	}
	if period != "" {
		return fmt.Sprintf("%s-%s-%06d", s.kind, period, number), nil
	}
	return fmt.Sprintf("%s-%06d", s.kind, number), nil
}

func (s *Sequence) next(ctx context.Context, tenant es.Tenant, period string) (uint64, error) {
	if s.settings.Block == 1 {
		return s.draw(ctx, tenant, period)
	}
	b := s.blockOf(tenant)
	b.mutex.Lock() // of many waiting calls, one draws
	defer b.mutex.Unlock()
	if b.next == b.end || b.period != period {
		first, err := s.draw(ctx, tenant, period)
		if err != nil {
			return 0, err
		}
		b.period, b.next, b.end = period, first, first+s.settings.Block
	}
	b.next++
	return b.next - 1, nil
}

// draw draws a block from the store, where each period is a sequence of its own.
func (s *Sequence) draw(ctx context.Context, tenant es.Tenant, period string) (uint64, error) {
	name := s.kind
	if period != "" {
		name += "-" + period
	}
	return s.store.Draw(ctx, tenant, name, s.settings.Block)
}

func (s *Sequence) blockOf(tenant es.Tenant) *block {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	found, kept := s.blocks.Get(tenant)
	if !kept {
		found = new(block)
		s.blocks.Add(tenant, found)
	}
	return found
}
