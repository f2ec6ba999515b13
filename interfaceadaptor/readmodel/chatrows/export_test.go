package chatrows

import "testing"

// LoadRows reads the rows whose keys are given.
var LoadRows = load

// SmallWindows has shadows hold the rows of few events.
func SmallWindows(t *testing.T, events uint64) {
	t.Helper()
	before := windowEvents
	windowEvents = events
	t.Cleanup(func() { windowEvents = before })
}
