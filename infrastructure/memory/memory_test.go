package memory

import (
	"math"
	"os"
	"testing"
)

func TestTheLeastLimitCounts(t *testing.T) {
	const computer = "MemTotal:        4000000 kB\nMemFree: 12 kB\n"
	for about, c := range map[string]struct {
		goLimit int64
		files   map[string]string
		want    uint64
	}{
		"nothing is known":            {math.MaxInt64, nil, 1 << 30},
		"the computer's":              {math.MaxInt64, map[string]string{"/proc/meminfo": computer}, 4000000 << 10},
		"a container's":               {math.MaxInt64, map[string]string{"/proc/meminfo": computer, "/sys/fs/cgroup/memory.max": "300000000\n"}, 300000000},
		"a container without a limit": {math.MaxInt64, map[string]string{"/proc/meminfo": computer, "/sys/fs/cgroup/memory.max": "max\n"}, 4000000 << 10},
		"an older container's":        {math.MaxInt64, map[string]string{"/sys/fs/cgroup/memory/memory.limit_in_bytes": "200000000\n"}, 200000000},
		"none in an older one":        {math.MaxInt64, map[string]string{"/proc/meminfo": computer, "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 4000000 << 10},
		"GOMEMLIMIT":                  {100000000, map[string]string{"/proc/meminfo": computer, "/sys/fs/cgroup/memory.max": "300000000\n"}, 100000000},
	} {
		read := func(path string) ([]byte, error) {
			if text, found := c.files[path]; found {
				return []byte(text), nil
			}
			return nil, os.ErrNotExist
		}
		if got := limit(c.goLimit, read); got != c.want {
			t.Errorf("%s: %d, want %d", about, got, c.want)
		}
	}
	if Limit() == 0 {
		t.Error("there is no memory")
	}
}
