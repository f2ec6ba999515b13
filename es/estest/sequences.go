package estest

import (
	"sync"
	"testing"

	"github.com/oklog/ulid/v2"

	"example.com/threads/es"
)

var sequenceContracts = []contract{
	{"numbers are consecutive", Settings{}, func(t *testing.T, h Harness) {
		name := ulid.Make().String()
		for want := range uint64(12) {
			wantDrawn(t, h, "", name, want+1)
		}
	}},
	{"each name and each tenant has a sequence of its own", Settings{}, func(t *testing.T, h Harness) {
		name := ulid.Make().String()
		for _, tenant := range []es.Tenant{"", "one", "two"} {
			wantDrawn(t, h, tenant, name, 1)
			wantDrawn(t, h, tenant, name+"-2026", 1)
			wantDrawn(t, h, tenant, name, 2)
		}
	}},
	{"concurrent draws get different numbers", Settings{}, func(t *testing.T, h Harness) {
		const clients, draws = 8, 5
		name := ulid.Make().String() // the first draw is a race, too
		var mutex sync.Mutex
		seen := map[uint64]bool{}
		var drawing sync.WaitGroup
		for range clients {
			drawing.Go(func() {
				for range draws {
					number, err := as[es.Store](t, h).Draw(t.Context(), "", name)
					if err != nil {
						t.Errorf("draw: %v", err)
						return
					}
					mutex.Lock()
					if seen[number] {
						t.Errorf("%d was drawn twice", number)
					}
					seen[number] = true
					mutex.Unlock()
				}
			})
		}
		drawing.Wait()
		for i := range uint64(clients * draws) {
			if !seen[i+1] {
				t.Errorf("number %d was never drawn", i+1)
			}
		}
	}},
}

func wantDrawn(t *testing.T, h Harness, tenant es.Tenant, name string, want uint64) {
	t.Helper()
	if drawn, err := as[es.Store](t, h).Draw(t.Context(), tenant, name); err != nil || drawn != want {
		t.Fatalf("drew %d, %v; want %d", drawn, err, want)
	}
}
