package polling_test

import (
	"testing"
	"time"

	"example.com/threads/es/internal/polling"
)

func TestPace(t *testing.T) {
	const ms = time.Millisecond
	pace := polling.Pace{Min: 5 * ms, Max: 100 * ms}
	begun := time.Now()
	for _, poll := range []struct {
		about   string
		after   time.Duration // since the first poll
		records int
		want    time.Duration
	}{
		{"the first page is empty", 0, 0, 5 * ms},
		{"the second page is empty", 5 * ms, 0, 10 * ms},
		{"a full page", 15 * ms, 10, 0},
		{"the page after it", 16 * ms, 3, 5 * ms},
		{"an empty page right after records", 21 * ms, 0, 5 * ms},
		{"an empty page almost half a second after records", 515 * ms, 0, 5 * ms},
		{"an empty page after a longer time", 516 * ms, 0, 10 * ms},
		{"and longer", 526 * ms, 0, 20 * ms},
		{"and longer", 546 * ms, 0, 40 * ms},
		{"and longer", 586 * ms, 0, 80 * ms},
		{"and longer", 666 * ms, 0, 100 * ms},
		{"and longer", 766 * ms, 0, 100 * ms},
		{"a record", 866 * ms, 1, 5 * ms},
	} {
		if got := pace.Next(poll.records, 10, begun.Add(poll.after)); got != poll.want {
			t.Errorf("%s: waits %s, want %s", poll.about, got, poll.want)
		}
	}
}
