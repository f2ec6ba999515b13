// Package memlimit limits the memory of the program to what it may use: call [Manage] first in main. Go alone does not
// know a container's limit: its heap may grow to twice what is alive, and the system kills the program. With a limit,
// garbage is collected more often the nearer it is. Caches take their share of [Limit], not a fixed size.
package memlimit

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	unknown = 1 << 30 // the assumed limit, in bytes, if there is no information
	// growth is by how many percent the heap grows until garbage is collected, as long as the limit is far: Go's
	// default of 100 costs a tenth more processor time a command.
	growth = 300
	// share is what Go may use of the memory. The rest is for SQLite's page caches, and for the system to keep the
	// pages of its files: without any, every page is read from disk again and again.
	share = 0.65
)

// Manage tells Go's runtime to stay below 65 % of the container's memory limit, or of the computer's memory, and to
// collect garbage less often while it is far below. The environment variables GOMEMLIMIT and GOGC come first. A program
// calls it when it starts. An error means that the limit is not known, and that nothing was changed.
func Manage() error {
	provider := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)
	if _, err := memlimit.Set(memlimit.WithProvider(provider), memlimit.WithRatio(share)); err != nil {
		return fmt.Errorf("find out how much memory the program may use; set GOMEMLIMIT: %w", err)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(growth)
	}
	return nil
}

// Limit returns how many bytes of memory Go may use: GOMEMLIMIT, or what [Manage] has found out.
func Limit() uint64 {
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return uint64(limit)
	}
	return unknown
}
