// Package memory finds out how much memory the program may use.
package memory

import (
	"bytes"
	"math"
	"os"
	"runtime/debug"
	"strconv"
)

// unknown is the assumed limit, in bytes, if there is no information.
const unknown = 1 << 30

// Limit returns the smallest of GOMEMLIMIT, the container's limit and the computer's memory, in bytes.
func Limit() uint64 { return limit(debug.SetMemoryLimit(-1), os.ReadFile) }

func limit(goLimit int64, read func(path string) ([]byte, error)) uint64 {
	least := uint64(math.MaxUint64)
	if goLimit < math.MaxInt64 {
		least = uint64(goLimit)
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := read(path); err == nil {
			if bytes, err := strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 64); err == nil { // "max": no limit
				least = min(least, bytes)
			}
		}
	}
	if text, err := read("/proc/meminfo"); err == nil {
		// The first line looks like "MemTotal:   16384256 kB".
		if fields := bytes.Fields(text); len(fields) > 1 && string(fields[0]) == "MemTotal:" {
			if kilobytes, err := strconv.ParseUint(string(fields[1]), 10, 54); err == nil {
				least = min(least, kilobytes<<10)
			}
		}
	}
	if least == 0 || least > 1<<60 {
		return unknown
	}
	return least
}
