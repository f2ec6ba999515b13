package es_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/threads/es"
)

// counters is a store in memory.
type counters struct {
	mutex sync.Mutex
	drawn map[string]uint64
	err   error
}

func (c *counters) Draw(_ context.Context, tenant es.Tenant, name string) (uint64, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	if c.drawn == nil {
		c.drawn = map[string]uint64{}
	}
	key := tenant.String() + "/" + name
	c.drawn[key]++
	return c.drawn[key], nil
}

func next(t *testing.T, s es.Sequence, of es.Tenant) string {
	t.Helper()
	code, err := s.NextCode(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func TestCodesCountPerTenant(t *testing.T) {
	s := es.Sequence{Store: &counters{}, Kind: "ORDER"}
	acme, globex := es.Tenant("acme"), es.Tenant("globex")
	got := []string{next(t, s, acme), next(t, s, acme), next(t, s, globex), next(t, s, acme)}
	if want := []string{"ORDER-000001", "ORDER-000002", "ORDER-000001", "ORDER-000003"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestASequenceBeginsAgainWithItsPeriod(t *testing.T) {
	// In UTC it is January.
	lateInDecember := time.Date(2026, 12, 31, 23, 59, 0, 0, time.FixedZone("west of Greenwich", -3600))
	for _, test := range []struct {
		reset, first, later string
		wait                time.Duration
	}{
		{"never", "ORDER-000001", "ORDER-000002", 400 * 24 * time.Hour},
		{"year", "ORDER-2027-000001", "ORDER-2028-000001", 366 * 24 * time.Hour},
		{"month", "ORDER-202701-000001", "ORDER-202702-000001", 31 * 24 * time.Hour},
		{"day", "ORDER-20270101-000001", "ORDER-20270102-000001", 24 * time.Hour},
		{"day", "ORDER-20270101-000001", "ORDER-20270101-000002", time.Hour},
	} {
		now := lateInDecember
		s := es.Sequence{Store: &counters{}, Kind: "ORDER", Reset: test.reset, Clock: func() time.Time { return now }}
		first := next(t, s, es.Tenant(""))
		now = now.Add(test.wait)
		if later := next(t, s, es.Tenant("")); first != test.first || later != test.later {
			t.Errorf("%s, %s later: %s and %s, want %s and %s", test.reset, test.wait, first, later, test.first, test.later)
		}
	}
}

func TestASequenceIsNotResetEachHour(t *testing.T) {
	s := es.Sequence{Store: &counters{}, Kind: "ORDER", Reset: "hour"}
	if code, err := s.NextCode(t.Context(), es.Tenant("")); code != "" || err == nil || !strings.Contains(err.Error(), `"hour"`) {
		t.Errorf("got %q, %v", code, err)
	}
}

func TestAFailedDrawIsNoNumber(t *testing.T) {
	s := es.Sequence{Store: &counters{err: es.ErrUnavailable}, Kind: "ORDER"}
	if code, err := s.NextCode(t.Context(), es.Tenant("")); code != "" || !errors.Is(err, es.ErrUnavailable) {
		t.Errorf("got %q, %v", code, err)
	}
}
