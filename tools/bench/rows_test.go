package main

import (
	"strings"
	"testing"
	"time"
)

func TestPercentile(t *testing.T) {
	var durations []time.Duration
	for i := 1000; i > 0; i-- {
		durations = append(durations, time.Duration(i)*time.Millisecond)
	}
	for share, want := range map[float64]float64{0: 1, 0.5: 500, 0.99: 990, 0.999: 999, 1: 1000} {
		if got := percentile(durations, share); got != want {
			t.Errorf("the share %g is %g ms, not %g", share, got, want)
		}
	}
	if got := percentile(nil, 0.5); got != 0 {
		t.Errorf("of nothing: %g", got)
	}
}

func TestRowsPairTheTurnsOfTwoBuilds(t *testing.T) {
	var readings []reading
	for turn := range 15 { // the machine gets slower, and one turn is disturbed
		speed := 1000 / float64(turn+1)
		mine := 0.95 * speed
		if turn == 7 {
			mine /= 3
		}
		readings = append(readings, reading{Name: "posts", Value: mine, Yardstick: 2 * speed, Without: "the network"},
			reading{Name: former + "posts", Value: speed, Yardstick: 2 * speed})
	}
	rows := rowsOf(readings)
	if len(rows) != 1 {
		t.Fatalf("%d rows", len(rows))
	}
	if r := rows[0]; short(r.Change) != "0.950" || short(r.ChangeFrom) != "0.950" || short(r.ChangeTo) != "0.950" || r.Base != 0.5 || r.Runs != 15 {
		t.Errorf("%+v", r)
	}
	var table strings.Builder
	printRows(&table, rows)
	if !strings.Contains(table.String(), "0.950 (0.950-0.950)") || !strings.Contains(table.String(), "the network") {
		t.Error(table.String())
	}
}

func TestLikelyLeavesOutTheEnds(t *testing.T) {
	var values []float64
	for i := range 15 {
		values = append(values, float64(i+1))
	}
	if low, high := likely(values); low != 4 || high != 12 { // ranks of the 95 % confidence interval of a median
		t.Errorf("%g to %g", low, high)
	}
	if low, high := likely([]float64{2, 1, 3}); low != 1 || high != 3 {
		t.Errorf("of three: %g to %g", low, high)
	}
}
