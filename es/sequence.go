package es

import (
	"context"
	"fmt"
	"time"
)

// periods are the names of a sequence's periods, in UTC. They are part of codes: after a reset, the numbers alone are
// not unique.
var periods = map[string]string{"year": "2006", "month": "200601", "day": "20060102"}

// Sequence draws codes for things of one kind, which people read. No code is drawn twice. It is safe for concurrent
// use.
type Sequence struct {
	Store interface { // a [Store]
		Draw(ctx context.Context, tenant Tenant, sequence string) (uint64, error)
	}
	Kind  string           // such as "ORDER": codes begin with it
	Reset string           // when the numbers start with 1 again: each year, month or day; default: never
	Clock func() time.Time // default: time.Now
}

// NextCode draws the tenant's next number and returns it as a code: ORDER-000001, or with a reset ORDER-2026-000001.
// Codes of one period are in the order of drawing. An unused number leaves a gap.
func (s Sequence) NextCode(ctx context.Context, tenant Tenant) (string, error) {
	now, name := time.Now, s.Kind
	if s.Clock != nil {
		now = s.Clock
	}
	if layout, resets := periods[s.Reset]; resets { // each period is a sequence of its own
		name += "-" + now().UTC().Format(layout)
	}
	number, err := s.Store.Draw(ctx, tenant, name)
	if err != nil {
		return "", fmt.Errorf("draw the next number of the sequence %s: %w", s.Kind, err)
	}
	return fmt.Sprintf("%s-%06d", name, number), nil
}
