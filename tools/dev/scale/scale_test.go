package main

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
)

func post(t *testing.T, text float64) measured {
	t.Helper()
	m, err := measuredFor(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func costOf(t *testing.T, name string, l load) float64 {
	t.Helper()
	for _, line := range post(t, l.text).costs(l) {
		if line.name == name {
			return line.dollars
		}
	}
	t.Fatalf("there is no line %q", name)
	return 0
}

// The page must have the tables that the command prints.
func TestThePageHasTheseTables(t *testing.T) {
	var tables bytes.Buffer
	if err := print(&tables, load{text: 100, batch: 1, shards: 64}, []float64{10, 1000, 5000, 100_000}); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	for table := range strings.SplitSeq(tables.String(), "\n\n") {
		if !bytes.Contains(page, []byte(strings.Trim(table, "\n"))) {
			t.Errorf("docs/scale.md must have:\n%s", table)
		}
	}
}

// These are calculated by hand: a post writes two items of up to 1 KB in a transaction, which counts twice, and the
// index once more.
func TestKnownFigures(t *testing.T) {
	l := load{rate: 1000, text: 100, batch: 1, shards: 64}
	m := post(t, 100)
	if units := m.JournalUnits + m.IndexUnits + m.HeadUnits; units != 6 {
		t.Errorf("a post takes %v write units", units)
	}
	// 1,000 a second for 730 hours, 6.08 units with snapshots, $0.625 a million.
	if writes := costOf(t, "DynamoDB writes", l); math.Abs(writes-9986) > 20 {
		t.Errorf("a thousand posts a second write for $%.0f a month", writes)
	}
	for name, want := range map[string]float64{oneThread: 500, "all logical shards are full": 32_000} {
		for _, limit := range m.limits(l) {
			if limit.name == name && limit.rate != want {
				t.Errorf("%s at %v, want %v", name, limit.rate, want)
			}
		}
	}
}

func TestWhatCanBeTurned(t *testing.T) {
	base := load{rate: 1000, text: 100, batch: 1, shards: 64}
	cheaper := func(name, line string, turn func(*load)) {
		turned := base
		turn(&turned)
		if before, after := costOf(t, line, base), costOf(t, line, turned); after >= before {
			t.Errorf("%s: %s was $%.0f, and is $%.0f", name, line, before, after)
		}
	}
	cheaper("batches", "DynamoDB writes", func(l *load) { l.batch = 5 })
	cheaper("provisioned tables", "DynamoDB writes", func(l *load) { l.provisioned = true })
	cheaper("the updater on Lambda", "updater", func(l *load) { l.lambda = true })

	first := func(l load) limit { return post(t, l.text).limits(l)[1] } // after that of one thread
	if one, many := first(base), first(load{text: 100, batch: 1, shards: 64, lambda: true}); one.name != "one updater" || many.rate <= one.rate {
		t.Errorf("first ends %v, with Lambda %v", one, many)
	}
	if few := first(load{text: 100, batch: 1, shards: 4, lambda: true}); few.rate != 2000 {
		t.Errorf("with four shards %v ends first", few)
	}
	if long := first(load{text: 4000, batch: 1, shards: 64, lambda: true}); long.rate != 4000 {
		t.Errorf("with long messages %v ends first", long)
	}
	if _, err := measuredFor(7); err == nil {
		t.Error("a size that was not measured was taken")
	}
}
