package testenv

import (
	"runtime"
	"testing"
	"testing/synctest"
)

// Bubble is [synctest.Test] on one processor. Before Go 1.27 the race detector crashes when two goroutines of a bubble
// receive from due timers at the same moment (https://go.dev/issue/78156); it finds races on one processor, too.
// A parallel test may not use it.
func Bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, f)
}
