package estest

import (
	"strings"
	"sync"
	"testing"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
)

var sequenceContracts = []contract{
	{"numbers are consecutive", Settings{}, func(t *testing.T, h Harness) {
		name := ulid.Make().String()
		for _, step := range []struct{ count, first uint64 }{{1, 1}, {1, 2}, {10, 3}, {1, 13}} {
			wantDrawn(t, h, "", name, step.count, step.first)
		}
	}},
	{"each name and each tenant has a sequence of its own", Settings{}, func(t *testing.T, h Harness) {
		name := ulid.Make().String()
		for _, tenant := range []es.Tenant{"", "one", "two"} {
			wantDrawn(t, h, tenant, name, 3, 1)
			wantDrawn(t, h, tenant, name+"-2026", 1, 1)
			wantDrawn(t, h, tenant, name, 1, 4)
		}
	}},
	{"concurrent draws get different numbers", Settings{}, func(t *testing.T, h Harness) {
		const clients, draws, count = 8, 5, 3
		name := ulid.Make().String() // the first draw is a race, too
		var mutex sync.Mutex
		seen := map[uint64]bool{}
		var drawing sync.WaitGroup
		for range clients {
			drawing.Go(func() {
				for range draws {
					first, err := as[es.Sequences](t, h).Draw(t.Context(), "", name, count)
					if err != nil {
						t.Errorf("draw: %v", err)
						return
					}
					mutex.Lock()
					for i := range uint64(count) {
						if seen[first+i] {
							t.Errorf("%d was drawn twice", first+i)
						}
						seen[first+i] = true
					}
					mutex.Unlock()
				}
			})
		}
		drawing.Wait()
		for i := range uint64(clients * draws * count) {
			if !seen[i+1] {
				t.Errorf("number %d was never drawn", i+1)
			}
		}
	}},
	{"an invalid draw is an error", Settings{}, func(t *testing.T, h Harness) {
		for _, wrong := range []struct {
			name  string
			count uint64
		}{{"", 1}, {strings.Repeat("x", es.MaxSequenceName+1), 1}, {"name", 0}, {"name", 1 << 40}} {
			if first, err := as[es.Sequences](t, h).Draw(t.Context(), "", wrong.name, wrong.count); err == nil {
				t.Errorf("%d of %q: drew %d", wrong.count, wrong.name, first)
			}
		}
	}},
}

func wantDrawn(t *testing.T, h Harness, tenant es.Tenant, name string, count, want uint64) {
	t.Helper()
	if first, err := as[es.Sequences](t, h).Draw(t.Context(), tenant, name, count); err != nil || first != want {
		t.Fatalf("drew %d from %d on, %v; want %d", count, first, err, want)
	}
}
