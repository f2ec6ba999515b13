package memlimit

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

func TestMemoryIsLimited(t *testing.T) {
	t.Cleanup(func() {
		debug.SetMemoryLimit(math.MaxInt64)
		debug.SetGCPercent(100)
	})
	t.Setenv("GOGC", "")
	debug.SetMemoryLimit(math.MaxInt64)
	if got := Limit(); got != unknown {
		t.Errorf("without a limit: %d, want %d", got, unknown)
	}
	if err := Manage(); err != nil {
		t.Fatal(err)
	}
	all, err := memlimit.FromSystem()
	if err != nil {
		t.Fatal(err)
	}
	if got := Limit(); got < 1<<20 || got > all/100*66 {
		t.Errorf("the limit is %d of the computer's %d bytes, want at most 65 %%", got, all)
	}
	if got := debug.SetGCPercent(100); got != growth {
		t.Errorf("the heap grows by %d %%, want %d", got, growth)
	}
}

func TestTheEnvironmentComesFirst(t *testing.T) {
	t.Cleanup(func() { debug.SetMemoryLimit(math.MaxInt64) })
	t.Setenv("GOMEMLIMIT", "100MiB")
	t.Setenv("GOGC", "50")
	debug.SetMemoryLimit(100 << 20) // as the runtime does with GOMEMLIMIT
	before := debug.SetGCPercent(50)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	if err := Manage(); err != nil {
		t.Fatal(err)
	}
	if got := Limit(); got != 100<<20 {
		t.Errorf("the limit is %d, want 100 MiB", got)
	}
	if got := debug.SetGCPercent(50); got != 50 {
		t.Errorf("the heap grows by %d %%, want 50", got)
	}
}
