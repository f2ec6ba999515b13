package limits_test

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/threads/es/estest/testenv"
	"example.com/threads/extras/limits"
)

func TestEachKeyHasItsRate(t *testing.T) {
	r := limits.NewRate(10)
	begun := time.Now()
	for i := range 10 {
		if !r.Take("ada") {
			t.Errorf("request %d is refused", i+1)
		}
	}
	for range 10 {
		if r.Take("ada") && time.Since(begun) < 100*time.Millisecond {
			t.Error("a request too many is allowed")
		}
	}
	if !r.Take("bob") {
		t.Error("another key is refused")
	}
	if !limits.NewRate(0).Take("ada") {
		t.Error("without a limit a request is refused")
	}
}

func TestARateRecovers(t *testing.T) {
	r := limits.NewRate(20)
	begun := time.Now()
	for range 20 {
		r.Take("ada")
	}
	testenv.Eventually(t, time.Second, func() error {
		if !r.Take("ada") {
			return errors.New("the request is refused")
		}
		return nil
	})
	if took := time.Since(begun); took < 50*time.Millisecond {
		t.Errorf("one more than 20 requests is allowed after %s", took)
	}
}

func TestABudgetWithoutALimit(t *testing.T) {
	b := limits.NewBudget(math.MaxInt, 0)
	for range 3 {
		if _, ok := b.Hold("ada", 1000); !ok {
			t.Error("there is no room")
		}
	}
}

func TestABudgetIsShared(t *testing.T) {
	b := limits.NewBudget(100, 60)
	ada, ok := b.Hold("ada", 50)
	if !ok {
		t.Fatal("the first reservation does not fit")
	}
	if _, ok := b.Hold("ada", 20); ok {
		t.Error("a key holds more than its share")
	}
	if release, ok := b.Hold("ada", 10); ok {
		release()
	} else {
		t.Error("there is room for 10 more")
	}
	if _, ok := b.Hold("bob", 60); ok {
		t.Error("more than the total is held")
	}
	bob, ok := b.Hold("bob", 50)
	if !ok {
		t.Error("the rest does not fit")
	}
	if _, ok := b.Hold("cleo", 1); ok {
		t.Error("there is room beside the total")
	}
	ada()
	ada()
	bob()
	large, ok := b.Hold("cleo", 1000)
	if !ok {
		t.Error("a reservation larger than the total does not fit although nothing else is held")
	}
	if _, ok := b.Hold("ada", 1); ok {
		t.Error("there is room beside the largest reservation")
	}
	large()
	if _, ok := b.Hold("ada", 1); !ok {
		t.Error("a release gives nothing back")
	}
}

func TestABudgetUnderLoad(t *testing.T) {
	b := limits.NewBudget(10, 4)
	var held, most atomic.Int64
	var group sync.WaitGroup
	for worker := range 16 {
		group.Go(func() {
			for range 500 {
				release, ok := b.Hold(string(rune('a'+worker%8)), 2)
				if !ok {
					continue
				}
				if now := held.Add(2); now > most.Load() {
					most.Store(now)
				}
				held.Add(-2)
				release()
			}
		})
	}
	group.Wait()
	if _, ok := b.Hold("a", 4); most.Load() > 10 || !ok {
		t.Errorf("%d were held at once", most.Load())
	}
}
