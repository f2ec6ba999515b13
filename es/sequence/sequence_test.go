package sequence_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/threads/es"
	"example.com/threads/es/sequence"
)

// counters is a store in memory.
type counters struct {
	mutex sync.Mutex
	drawn map[string]uint64
	draws int
	err   error
}

func (c *counters) Draw(_ context.Context, tenant es.Tenant, name string, count uint64) (uint64, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	if c.drawn == nil {
		c.drawn = map[string]uint64{}
	}
	c.draws++
	key := tenant.String() + "/" + name
	c.drawn[key] += count
	return c.drawn[key] - count + 1, nil
}

func tenant(t *testing.T, code string) es.Tenant {
	t.Helper()
	parsed, err := es.ParseTenant(code)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func next(t *testing.T, s *sequence.Sequence, of es.Tenant) string {
	t.Helper()
	code, err := s.NextCode(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func TestCodesCountPerTenant(t *testing.T) {
	s := sequence.New(&counters{}, "ORDER", sequence.Settings{})
	acme, globex := tenant(t, "acme"), tenant(t, "globex")
	got := []string{next(t, s, acme), next(t, s, acme), next(t, s, globex), next(t, s, acme)}
	if want := []string{"ORDER-000001", "ORDER-000002", "ORDER-000001", "ORDER-000003"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestASequenceBeginsAgainWithItsPeriod(t *testing.T) {
	// In UTC it is January.
	lateInDecember := time.Date(2026, 12, 31, 23, 59, 0, 0, time.FixedZone("west of Greenwich", -3600))
	for _, test := range []struct {
		reset        sequence.Reset
		first, later string
		wait         time.Duration
	}{
		{"never", "ORDER-000001", "ORDER-000002", 400 * 24 * time.Hour},
		{"year", "ORDER-2027-000001", "ORDER-2028-000001", 366 * 24 * time.Hour},
		{"month", "ORDER-202701-000001", "ORDER-202702-000001", 31 * 24 * time.Hour},
		{"day", "ORDER-20270101-000001", "ORDER-20270102-000001", 24 * time.Hour},
		{"day", "ORDER-20270101-000001", "ORDER-20270101-000002", time.Hour},
	} {
		for _, size := range []uint64{1, 10} {
			now := lateInDecember
			s := sequence.New(&counters{}, "ORDER", sequence.Settings{Reset: test.reset, Block: size, Clock: func() time.Time { return now }})
			first := next(t, s, es.Tenant(""))
			now = now.Add(test.wait)
			if later := next(t, s, es.Tenant("")); first != test.first || later != test.later {
				t.Errorf("%s, %s later: %s and %s, want %s and %s", test.reset, test.wait, first, later, test.first, test.later)
			}
		}
	}
}

func TestABlockIsDrawnOnce(t *testing.T) {
	store := &counters{}
	// Two processes with blocks of their own.
	processes := []*sequence.Sequence{
		sequence.New(store, "ORDER", sequence.Settings{Block: 50}), sequence.New(store, "ORDER", sequence.Settings{Block: 50}),
	}
	var mutex sync.Mutex
	seen := map[string]bool{}
	var drawing sync.WaitGroup
	for i := range 20 {
		drawing.Go(func() {
			for range 10 {
				code, err := processes[i%2].NextCode(t.Context(), es.Tenant(""))
				mutex.Lock()
				if err != nil || seen[code] {
					t.Errorf("%s again, or %v", code, err)
				}
				seen[code] = true
				mutex.Unlock()
			}
		})
	}
	drawing.Wait()
	if store.draws != 4 {
		t.Errorf("200 codes took %d draws, want 4", store.draws)
	}
}

func TestAFailedDrawIsNoNumber(t *testing.T) {
	store := &counters{err: es.ErrUnavailable}
	for _, size := range []uint64{1, 10} {
		s := sequence.New(store, "ORDER", sequence.Settings{Block: size})
		if code, err := s.NextCode(t.Context(), es.Tenant("")); code != "" || !errors.Is(err, es.ErrUnavailable) {
			t.Errorf("got %q, %v", code, err)
		}
	}
}
